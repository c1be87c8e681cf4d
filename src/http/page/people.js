// People: everybody who is known, who may be the same, and merging.

import { h, all } from "./dom.js";
import { href, note } from "./route.js";
import { may, query } from "./api.js";
import { hear } from "./events.js";
import { empty, head, memoryChanged } from "./parts.js";
import { everybody, face, nameOf } from "./who.js";
import { askToMerge } from "./merge.js";
import { suggestionsOf } from "./same.js";
import { nameField } from "./naming.js";
import { showPerson } from "./person.js";
import { count, duration, ms, when } from "./words.js";

export const title = "People";

/** So many are drawn; more are found by the search. */
const DRAWN = 200;

export async function show(params, signal) {
  const who = params.get("who");
  if (who) return showPerson(who, signal);
  const [persons, people] = await Promise.all([query("people", {}, signal), everybody()]);
  let wake = 0;
  hear(
    "event/person",
    (event) => {
      if (!["new", "named", "merged"].includes(event.event)) return;
      clearTimeout(wake);
      wake = setTimeout(() => !signal.aborted && !document.querySelector("dialog, input:focus") && memoryChanged(), 1500);
    },
    signal,
  );
  if (!persons.length)
    return all(
      head("People"),
      empty("Nobody is known yet", "Whoever is seen or heard appears here by themselves; you give the names."),
    );
  const chosen = new Set((params.get("pick") ?? "").split(",").filter((id) => people.has(id)));
  const bar = h("div", { class: "mergeBar", role: "region", "aria-label": "Chosen people" });
  const grid = h("ul", { class: "grid", "aria-label": "Everybody" });
  const search = h("input", {
    type: "search",
    id: "find",
    placeholder: "Find a name or an id",
    "aria-label": "Find a name or an id",
    value: params.get("find") ?? "",
  });
  const draw = () => {
    const wanted = search.value.trim().toLowerCase();
    const fits = (person) =>
      !wanted || [person.id, person.name ?? "", ...person.aliases].some((word) => word.toLowerCase().includes(wanted));
    const found = persons.filter(fits).sort(byName);
    grid.replaceChildren(
      ...found.slice(0, DRAWN).map((person) => card(person, people, chosen, () => mergeBar(bar, chosen, people))),
    );
    if (found.length > DRAWN) grid.append(h("li", { class: "soft" }, `and ${found.length - DRAWN} more: find them by name`));
    if (!found.length) grid.append(h("li", { class: "soft" }, "Nobody is called so."));
  };
  search.addEventListener("input", () => {
    note({ find: search.value });
    draw();
  });
  draw();
  mergeBar(bar, chosen, people);
  const named = persons.filter((person) => person.name).length;
  return all(
    head("People", `${count(persons.length, "person", "people")}, ${named} with a name`, search),
    await suggestionsOf(persons, people, signal),
    grid,
    bar,
  );
}

/** Those with a name first, then whoever was there last. */
function byName(a, b) {
  if (Boolean(a.name) !== Boolean(b.name)) return a.name ? -1 : 1;
  return (b.last_seen ? ms(b.last_seen) : 0) - (a.last_seen ? ms(a.last_seen) : 0);
}

function card(person, people, chosen, changedChoice) {
  const words = nameOf(person.id, person.name);
  const pick = h("input", {
    type: "checkbox",
    id: `pick-${person.id}`,
    checked: chosen.has(person.id),
    "aria-label": `Choose ${words}`,
  });
  pick.addEventListener("change", () => {
    if (pick.checked) chosen.add(person.id);
    else chosen.delete(person.id);
    note({ pick: [...chosen].join(",") });
    changedChoice();
  });
  return h(
    "li",
    { class: "person card" },
    h(
      "a",
      { class: "portrait", href: href("people", { who: person.id }), tabindex: "-1", "aria-hidden": "true" },
      face(person.id, people.get(person.id), "large"),
    ),
    may("operate") ? h("span", { class: "pick" }, pick) : null,
    h(
      "div",
      { class: "personBody" },
      may("operate") ? nameField(person) : h("p", { class: "personName" }, words),
      h(
        "a",
        { class: "small soft", href: href("people", { who: person.id }) },
        person.last_seen ? `last ${when(person.last_seen)}` : "only told of",
      ),
      h("p", { class: "small soft" }, figures(person)),
    ),
  );
}

function figures(person) {
  const told = [];
  if (person.seen_secs > 0) told.push(`seen ${duration(person.seen_secs)}`);
  if (person.spoken_secs > 0) told.push(`spoke ${duration(person.spoken_secs)}`);
  return told.join(", ") || "no face and no voice";
}

function mergeBar(bar, chosen, people) {
  bar.hidden = chosen.size === 0;
  const faces = [...chosen].map((id) => face(id, people.get(id)));
  const merge = h(
    "button",
    { type: "button", class: "small primary", disabled: chosen.size < 2, onclick: () => askToMerge([...chosen], people) },
    "They are one person",
  );
  const none = h(
    "button",
    {
      type: "button",
      class: "small plain",
      onclick: () => {
        chosen.clear();
        note({ pick: null });
        memoryChanged();
      },
    },
    "Choose nobody",
  );
  bar.replaceChildren(h("span", { class: "row" }, faces, `${chosen.size} chosen`), h("span", { class: "row" }, none, merge));
}
