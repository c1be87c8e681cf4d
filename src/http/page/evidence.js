// Memories as cards with their picture and sound, and as lines.

import { h } from "./dom.js";
import { changed } from "./route.js";
import { icon } from "./icons.js";
import { may } from "./api.js";
import { clips, nearestFrame, turnOf } from "./clips.js";
import { picture, soundButton } from "./parts.js";
import { face, nameOf } from "./who.js";
import { clock, kindWord, memoryNow, ms, percent, readable, span } from "./words.js";

/** The persons that a memory is about, with their faces; `except`: whoever the page is about anyway. */
export function about(memory, people, except) {
  const persons = memory.entities.filter((id) => id.startsWith("person_") && id !== except);
  if (!persons.length) return null;
  return h(
    "span",
    { class: "about" },
    persons.slice(0, 4).map((id) => {
      const person = people.get(id);
      return h("a", { class: "who", href: `#/people?who=${id}` }, face(id, person), h("span", null, nameOf(id, person?.name)));
    }),
  );
}

/** Cards of evidence, best evidence first as the answer gives it; pictures come when they are there. */
export function evidenceCards(evidence, people) {
  const list = h("ul", { class: "cards", "aria-label": "Evidence" });
  const mayLook = may("look");
  const shown = mayLook ? clips(evidence.map((one) => one.clip)) : null;
  for (const memory of evidence) {
    const still = mayLook
      ? h("div", { class: "still" }, h("span", { class: "noPicture" }, memory.clip ? "" : icon("note")))
      : null;
    const tools = h("div", { class: "cardTools" });
    const body = h(
      "div",
      { class: "cardBody" },
      h(
        "p",
        { class: "cardMeta" },
        h("span", { class: `kind ${memory.kind}` }, kindWord(memory.kind)),
        h("span", { class: "soft" }, span(memory.start, memory.end)),
      ),
      h("p", { class: "cardText" }, readable(memory.text)),
      h("div", { class: "cardFoot" }, about(memory, people), tools),
    );
    tools.append(h("span", { class: "score soft", title: "How well it fits" }, percent(memory.score)));
    if (memory.memory && mayLook)
      tools.append(h("a", { class: "small", href: changed({ memory: memory.memory, clip: null, at: null }) }, "Why"));
    list.append(h("li", { class: "card" }, still, body));
    shown?.then((byId) => illustrate(memory, byId.get(memory.clip), still, tools));
  }
  return list;
}

function illustrate(memory, shown, still, tools) {
  if (!memory.clip) return;
  const middle = (ms(memory.start) + ms(memory.end)) / 2;
  const frame = nearestFrame(shown, middle);
  const link = h(
    "a",
    {
      href: changed({ clip: memory.clip, at: memory.start, memory: null }),
      "aria-label": `Open the clip of ${clock(memory.start)}`,
    },
    frame
      ? picture(frame.digest, "")
      : h("span", { class: "noPicture" }, shown ? "No picture was kept" : "This clip is not sealed yet"),
  );
  still.replaceChildren(link);
  const sound = turnOf(shown, memory)?.sound;
  if (sound) tools.prepend(soundButton(sound, "Play what was said"));
}

/** A memory as one line of a list. */
export function memoryLine(memory, people, { extra, except } = {}) {
  const past = memory.valid_to && ms(memory.valid_to) <= memoryNow() && memory.kind === "semantic";
  return h(
    "li",
    { class: "line" },
    h("span", { class: `kind ${memory.kind}` }, kindWord(memory.kind)),
    h(
      "div",
      { class: "lineMain" },
      h(
        "a",
        { class: past ? "lineText past" : "lineText", href: changed({ memory: memory.memory, clip: null, at: null }) },
        readable(memory.text),
      ),
      h(
        "p",
        { class: "soft small" },
        span(memory.start, memory.end),
        past ? `, true until ${clock(memory.valid_to)}` : "",
        extra ? [" · ", extra] : null,
      ),
    ),
    h(
      "div",
      { class: "lineTools" },
      about(memory, people, except),
      memory.clip
        ? h("a", { class: "small", href: changed({ clip: memory.clip, at: memory.start, memory: null }) }, "Clip")
        : null,
    ),
  );
}
