// Persons as the page shows them: names and faces, fetched once and again when somebody was named or merged.

import { query, mediaUrl } from "./api.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { idWord } from "./words.js";

let fetching = null;

/** Every person with name and faces, by id. */
export function everybody() {
  fetching ??= query("show", { what: "people" }).then(
    (rows) => new Map(rows.map((row) => [row.id, row])),
    (error) => {
      fetching = null;
      throw error;
    },
  );
  return fetching;
}

/** Forgets what was fetched: somebody changed. */
export function peopleChanged() {
  fetching = null;
}

/** The name, else the id in words. */
export const nameOf = (id, name) => name ?? idWord(id);

/** A colour of one's own, in degrees, the same every time. */
export function hue(id) {
  const digits = Number(id?.split("_")[1] ?? 0);
  return (digits * 137.5 + 190) % 360;
}

/** A face, or the first letter where none is kept. `size`: `small`, `middle`, `large`. */
export function face(id, person, size = "small") {
  const chip = person?.chips?.[0]?.media;
  if (chip)
    return h("img", { class: `face ${size}`, src: mediaUrl(chip), alt: "", loading: "lazy", onerror: broken(id, person, size) });
  return letter(id, person, size);
}

const broken = (id, person, size) => (event) => event.target.replaceWith(letter(id, person, size));

function letter(id, person, size) {
  const initial = person?.name?.[0]?.toUpperCase();
  return h(
    "span",
    { class: `face letter ${size}`, "aria-hidden": "true", style: { "--hue": hue(id) } },
    initial ?? icon("voice"),
  );
}

/** Face and name, linked to the person's page. */
export function personLink(id, people, extra) {
  const person = people?.get(id);
  return h(
    "a",
    { class: "who", href: `#/people?who=${encodeURIComponent(id)}` },
    face(id, person),
    h("span", null, nameOf(id, person?.name)),
    extra,
  );
}
