// One person: face, what is true of them, the faces and voices that are theirs and why, what is remembered.

import { h, all } from "./dom.js";
import { href } from "./route.js";
import { icon } from "./icons.js";
import { command, may, query, requestId } from "./api.js";
import { carryOut, memoryChanged, picture, soundButton, terms } from "./parts.js";
import { memoryLine } from "./evidence.js";
import { askToForget } from "./forget.js";
import { everybody, face, nameOf } from "./who.js";
import { nameField } from "./naming.js";
import { notThem } from "./split.js";
import { dayKey, duration, idWord, readable, when } from "./words.js";

export async function showPerson(who, signal) {
  const [shown, people] = await Promise.all([query("show", { what: who }, signal), everybody()]);
  const person = shown.profile;
  const [profile, why] = await Promise.all([
    query("profile", { who: person.id }, signal),
    query("people", { why: person.id }, signal).catch(() => ({ parts: [], merges: [], links: [] })),
  ]);
  return all(
    h("p", null, h("a", { class: "small", href: "#/people" }, "← Everybody")),
    portrait(person, people),
    h(
      "div",
      { class: "columns" },
      h("div", null, known(profile), parts(person, why), merges(person, why)),
      h(
        "section",
        { class: "card" },
        h("h2", null, "Remembered"),
        shown.memories.length
          ? h(
              "ul",
              { class: "lines" },
              shown.memories.toReversed().map((memory) => memoryLine(memory, people, { except: person.id })),
            )
          : h("p", { class: "soft" }, "Nothing yet."),
        h(
          "a",
          { class: "button small", href: href("memory", { q: `who:${quote(nameOf(person.id, person.name))}` }) },
          "Search what is remembered",
        ),
      ),
    ),
    why.links?.length ? evidence(why) : null,
  );
}

const quote = (word) => (/\s/.test(word) ? `"${word}"` : word);

function portrait(person, people) {
  const words = nameOf(person.id, person.name);
  const asked = (question) => href("ask", { q: question, c: requestId() });
  return h(
    "section",
    { class: "card portraitCard" },
    face(person.id, people.get(person.id), "huge"),
    h(
      "div",
      { class: "grow" },
      may("operate") ? nameField(person, "h1") : h("h1", null, words),
      h(
        "p",
        { class: "soft" },
        person.name ? idWord(person.id) : "No name yet",
        person.aliases.length
          ? `, also ${person.aliases.map((one) => (one.startsWith("person_") ? idWord(one) : one)).join(", ")}`
          : "",
      ),
      terms([
        ["Seen", person.seen_secs > 0 ? duration(person.seen_secs) : "never"],
        ["Spoke", person.spoken_secs > 0 ? duration(person.spoken_secs) : "never"],
        person.first_seen ? ["First", when(person.first_seen)] : null,
        person.last_seen
          ? ["Last", h("a", { href: href("day", { day: dayKey(person.last_seen) }) }, when(person.last_seen))]
          : null,
      ]),
      h(
        "div",
        { class: "row" },
        may("ask")
          ? h(
              "a",
              { class: "button", href: asked(`When did you last see ${person.name ?? person.id}?`) },
              icon("ask"),
              "When last?",
            )
          : null,
        h("a", { class: "button", href: href("graph", { of: person.id }) }, icon("graph"), "Graph"),
        may("erase")
          ? h(
              "button",
              {
                type: "button",
                class: "quiet danger",
                id: "forget",
                onclick: () =>
                  askToForget({
                    title: `Forget ${words}?`,
                    word: words,
                    target: { entity: person.id },
                    after: () => {
                      location.hash = "#/people";
                      memoryChanged();
                    },
                  }),
              },
              "Forget …",
            )
          : null,
      ),
    ),
  );
}

function known(profile) {
  const facts = profile.facts.map((fact) =>
    h(
      "li",
      { class: "line" },
      h(
        "div",
        { class: "lineMain" },
        h("a", { class: "lineText", href: href("people", { who: profile.id, memory: fact.memory }) }, readable(fact.text)),
        h("p", { class: "soft small" }, `${fact.attribute}, since ${when(fact.since)}${fact.weak ? ", from one statement" : ""}`),
      ),
    ),
  );
  const notes = profile.notes.map((one) =>
    h(
      "li",
      { class: "line" },
      h(
        "div",
        { class: "lineMain" },
        h("a", { class: "lineText", href: href("people", { who: profile.id, memory: one.memory }) }, readable(one.text)),
        h("p", { class: "soft small" }, when(one.at)),
      ),
    ),
  );
  if (!facts.length && !notes.length) return null;
  return h("section", { class: "card" }, h("h2", null, "True of them"), h("ul", { class: "lines" }, facts, notes));
}

/** Faces and voices with their pictures and sounds; each can be said to be somebody else's. */
function parts(person, why) {
  const rows = why.parts.map((part) => {
    const isVoice = part.part.startsWith("voice");
    const samples = isVoice
      ? part.media.slice(0, 4).map((digest) => soundButton(digest, `Play ${idWord(part.part)}`))
      : part.media.slice(0, 8).map((digest) => picture(digest, "", { class: "face middle" }));
    return h(
      "li",
      { class: "part" },
      h(
        "div",
        { class: "row spread" },
        h("strong", null, idWord(part.part)),
        why.parts.length > 1 || part.exemplars ? notThem(part.part, person.id, person.name) : null,
      ),
      h("div", { class: "row" }, samples.length ? samples : h("span", { class: "soft small" }, "no sample is kept")),
      h("p", { class: "soft small" }, part.decreed ? "You said so. " : "", part.reason),
    );
  });
  if (!rows.length)
    return h(
      "section",
      { class: "card" },
      h("h2", null, "Face and voice"),
      h("p", { class: "soft" }, "Only told of: no face and no voice is known."),
    );
  return h("section", { class: "card" }, h("h2", null, "Face and voice"), h("ul", { class: "plainList" }, rows));
}

/** Persons that were merged into this one, each to be taken apart again. */
function merges(person, why) {
  if (!why.merges.length) return null;
  const rows = why.merges.map((merge) => {
    const button = h("button", { type: "button", class: "small quiet" }, "Take apart");
    button.addEventListener("click", async () => {
      if (
        await carryOut(button, () => command("people", { split: [merge.from] }), `${idWord(merge.from)} is somebody else again.`)
      )
        memoryChanged();
    });
    return h(
      "li",
      { class: "part" },
      h("div", { class: "row spread" }, h("strong", null, idWord(merge.from)), may("operate") ? button : null),
      h("p", { class: "soft small" }, merge.decreed ? "You said so. " : "", merge.reason),
    );
  });
  return h("section", { class: "card" }, h("h2", null, "Merged"), h("ul", { class: "plainList" }, rows));
}

/** For how long a voice and a face went together: what the decision rests on. */
function evidence(why) {
  return h(
    "details",
    { class: "more card" },
    h("summary", null, "Evidence for and against"),
    h(
      "ul",
      { class: "plainList" },
      why.links.map((link) =>
        h(
          "li",
          null,
          `${idWord(link.face)} and ${idWord(link.voice)}: ${duration(link.support_secs)} for, ${duration(link.against_secs)} against`,
          h("span", { class: "soft" }, link.same_person ? ", one person" : ", two persons"),
          link.names ? `, their names are ${link.names}` : "",
        ),
      ),
    ),
  );
}
