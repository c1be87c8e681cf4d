// Who may be the same: pairs that the memory's own evidence speaks for, with the reason.

import { h } from "./dom.js";
import { may, query } from "./api.js";
import { askToMerge } from "./merge.js";
import { face, nameOf } from "./who.js";
import { duration } from "./words.js";

/** Of so many persons, those who came last, the evidence is read. */
const READ = 24;
/** So many pairs are shown. */
const SHOWN = 6;
/** A voice has to go with a face for so long, and for so much longer than against it, seconds. */
const ENOUGH_SECS = 2;

const HIDDEN = "engram.notSame";

/** A row of pairs, or null where there are none. */
export async function suggestionsOf(persons, people, signal) {
  if (!may("operate")) return null;
  const newest = persons.toSorted((a, b) => (b.last_seen ?? "").localeCompare(a.last_seen ?? "")).slice(0, READ);
  const reasons = await Promise.all(newest.map((person) => query("people", { why: person.id }, signal).catch(() => null)));
  const owner = new Map(persons.flatMap((person) => [...person.faces, ...person.voices].map((part) => [part, person.id])));
  const pairs = new Map();
  const apart = new Set();
  const hidden = new Set(read());
  // What somebody overruled is not proposed to them again.
  const decreed = new Set(
    reasons
      .flatMap((why) => why?.parts ?? [])
      .filter((part) => part.decreed)
      .map((part) => part.part),
  );
  const links = reasons.flatMap((why) => why?.links ?? []);
  const own = new Map();
  for (const link of links.filter((one) => one.same_person))
    for (const part of [link.face, link.voice]) own.set(part, Math.max(own.get(part) ?? 0, surplusOf(link)));
  for (const why of reasons.filter(Boolean)) {
    for (const { a, b } of why.different) apart.add(key(owner.get(a), owner.get(b)));
    for (const other of why.same_name ?? [])
      add(why.id, typeof other === "string" ? other : other.id, 100, "both gave the same name");
    for (const link of why.links) {
      const surplus = surplusOf(link);
      // A part that goes better with one of its own person is where it belongs.
      if (surplus <= Math.max(own.get(link.face) ?? 0, own.get(link.voice) ?? 0)) continue;
      if (
        link.same_person ||
        link.names === "different" ||
        surplus < ENOUGH_SECS ||
        decreed.has(link.face) ||
        decreed.has(link.voice)
      )
        continue;
      add(
        owner.get(link.face),
        owner.get(link.voice),
        surplus,
        `the voice was heard for ${duration(link.support_secs)} while the face was in view, for ${duration(link.against_secs)} while it was not`,
      );
    }
  }
  function add(a, b, weight, reason) {
    if (!a || !b || a === b) return;
    const one = key(a, b);
    if (!pairs.has(one) || pairs.get(one).weight < weight) pairs.set(one, { a, b, weight, reason });
  }
  const open = [...pairs]
    .filter(([one]) => !apart.has(one) && !hidden.has(one))
    .map(([, pair]) => pair)
    .sort((a, b) => b.weight - a.weight);
  // Each person with their best other alone: whoever listens to somebody is beside that voice, too, only less.
  const taken = new Set();
  const found = open.filter(({ a, b }) => !taken.has(a) && !taken.has(b) && taken.add(a).add(b)).slice(0, SHOWN);
  if (!found.length) return null;
  const list = h("ul", { class: "pairs" });
  list.append(...found.map((pair) => pairRow(pair, people, list)));
  return h("section", { class: "card same" }, h("h2", null, "May be the same"), list);
}

const surplusOf = (link) => link.support_secs - link.against_secs;
const key = (a, b) => [a, b].sort().join(" ");

function pairRow({ a, b, reason }, people, list) {
  const words = [a, b].map((id) => nameOf(id, people.get(id)?.name));
  const row = h(
    "li",
    { class: "pair" },
    h("span", { class: "row" }, face(a, people.get(a), "middle"), face(b, people.get(b), "middle")),
    h("div", { class: "grow" }, h("p", null, `${words[0]} and ${words[1]}`), h("p", { class: "soft small" }, reason)),
    h(
      "span",
      { class: "row" },
      h("button", { type: "button", class: "small primary", onclick: () => askToMerge([a, b], people) }, "The same"),
      h(
        "button",
        {
          type: "button",
          class: "small",
          title: "Hides the suggestion in this browser; the memory goes on comparing them",
          onclick: () => {
            write([...read(), key(a, b)]);
            row.remove();
            if (!list.children.length) list.closest("section").remove();
          },
        },
        "Not the same",
      ),
    ),
  );
  return row;
}

function read() {
  try {
    return JSON.parse(localStorage.getItem(HIDDEN) ?? "[]");
  } catch {
    return [];
  }
}

function write(keys) {
  try {
    localStorage.setItem(HIDDEN, JSON.stringify(keys.slice(-500)));
  } catch {
    // Hidden for this visit alone.
  }
}
