// Watches: standing questions, set and taken away, and when each was answered.

import { h, all } from "./dom.js";
import { changed } from "./route.js";
import { command, may, query } from "./api.js";
import { hear } from "./events.js";
import { carryOut, empty, head, memoryChanged, picture, toast } from "./parts.js";
import { everybody, nameOf } from "./who.js";
import { count, duration, when } from "./words.js";

export const title = "Watches";

const HAPPENINGS = [
  ["comes", "comes"],
  ["leaves", "leaves"],
  ["stays", "stays for"],
  ["speaks", "speaks"],
  ["falls", "falls"],
  ["moves", "is moved (a thing)"],
];
const FIRINGS = 12;

export async function show(params, signal) {
  const [reply, people, ring] = await Promise.all([
    query("watches", { limit: FIRINGS }, signal),
    may("look") ? everybody().catch(() => new Map()) : new Map(),
    may("look") ? query("snapshots", {}, signal).then((kept) => kept.ring).catch(() => false) : false,
  ]);
  // What is being written into the form is not thrown away.
  hear(
    "event/watch",
    () => !signal.aborted && !document.querySelector("dialog") && !document.activeElement?.closest("form") && memoryChanged(),
    signal,
  );
  return all(
    head("Watches", "Standing questions: each is answered when it happens, with a picture and the clip"),
    may("operate") ? setting(people, ring) : null,
    h(
      "section",
      { "aria-label": "Watches that are set" },
      reply.watches.length
        ? reply.watches.map((one) => card(one, people))
        : empty("No watch is set", "“Tell me when Ava comes” is one."),
    ),
  );
}

// ---------------------------------------------------------------- setting one

function setting(people, ring) {
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Set a watch"),
    inWords(),
    h("details", { id: "watch-parts" }, h("summary", null, "In parts"), inParts(people, ring)),
  );
}

/** A rule in words: the daemon reads it, and says what it understood where it is none. */
function inWords() {
  const input = h("input", {
    id: "watch-words",
    "aria-label": "Tell me when",
    placeholder: "Tell me when somebody unknown is in the kitchen after 22:00",
    maxlength: 500,
    autocomplete: "off",
  });
  const button = h("button", { class: "primary" }, "Watch");
  return h(
    "form",
    {
      class: "row",
      onsubmit: async (event) => {
        event.preventDefault();
        if (!input.value.trim()) return input.focus();
        const done = await carryOut(button, () => command("watch", { words: input.value.trim() }), told);
        if (!done) return;
        input.value = "";
        memoryChanged();
      },
    },
    input,
    button,
  );
}

function inParts(people, ring) {
  const names = [...people.values()].map((person) => person.name).filter(Boolean);
  const field = (id, words, props = {}) => h("input", { id, "aria-label": words, placeholder: words, autocomplete: "off", ...props });
  const who = field("watch-who", "Who: a name, anybody, unknown", { list: "watch-names", required: true, maxlength: 200 });
  const what = h(
    "select",
    { id: "watch-what", "aria-label": "What has to happen", onchange: () => (minutes.hidden = what.value !== "stays") },
    HAPPENINGS.map(([value, words]) => h("option", { value }, words)),
  );
  const minutes = field("watch-minutes", "minutes", { type: "number", min: 0, max: 10080, step: "any", hidden: true });
  const place = field("watch-where", "Where: a camera or a place", { maxlength: 200 });
  const from = field("watch-from", "From", { type: "time" });
  const to = field("watch-to", "To", { type: "time" });
  const say = field("watch-say", "What the robot says then", { maxlength: 500 });
  const keep = field("watch-snapshot", "Seconds kept around it", { type: "number", min: 1, max: 900, step: "any" });
  const once = h("input", { id: "watch-once", type: "checkbox" });
  const button = h("button", null, "Watch");
  const rule = () => {
    const made = { who: who.value.trim(), what: what.value };
    if (made.what === "stays") made.for_secs = 60 * Number(minutes.value);
    if (place.value.trim()) made.where = place.value.trim();
    if (from.value && to.value) made.between = `${from.value}-${to.value}`;
    if (say.value.trim()) made.say = say.value.trim();
    if (keep.value) made.snapshot_secs = Number(keep.value);
    if (once.checked) made.once = true;
    return made;
  };
  return h(
    "form",
    {
      class: "row wrap",
      id: "watch-form",
      onsubmit: async (event) => {
        event.preventDefault();
        if (Boolean(from.value) !== Boolean(to.value)) return toast("Hours have a beginning and an end.", true);
        const done = await carryOut(button, () => command("watch", { add: rule() }), told);
        if (done) memoryChanged();
      },
    },
    h(
      "datalist",
      { id: "watch-names" },
      ["anybody", "unknown", ...names].map((name) => h("option", { value: name })),
    ),
    who,
    what,
    minutes,
    place,
    h("span", { class: "soft", "aria-hidden": "true" }, "between"),
    from,
    to,
    say,
    ring ? keep : null,
    h("label", { class: "row", for: "watch-once" }, once, "only once"),
    button,
  );
}

const told = (reply) => `Watching: ${ruleWords(reply.rule)}.`;

// ---------------------------------------------------------------- those that are set

/** A rule in a line. */
export function ruleWords(rule) {
  const who = { unknown: "somebody unknown", anybody: "anybody" }[rule.who] ?? rule.who;
  const parts = [`${who} ${rule.what === "moves" ? "is moved" : rule.what}`];
  if (rule.for_secs !== undefined) parts.push(`for ${duration(rule.for_secs)}`);
  if (rule.where) parts.push(`at ${rule.where}`);
  if (rule.between) parts.push(`between ${rule.between.replace("-", " and ")}`);
  if (rule.until) parts.push(`until ${when(rule.until)}`);
  if (rule.snapshot_secs) parts.push(`(${duration(rule.snapshot_secs)} before and after are kept)`);
  if (rule.once) parts.push("once");
  return parts.join(" ");
}

function card(one, people) {
  const firings = one.firings.toReversed();
  return h(
    "article",
    { class: "card watch", id: one.id, "aria-labelledby": `${one.id}-rule` },
    h(
      "header",
      { class: "row spread" },
      h("h2", { id: `${one.id}-rule` }, ruleWords(one.rule)),
      may("operate") ? remover(one) : null,
    ),
    one.rule.say ? h("p", { class: "soft" }, `Says: “${one.rule.say}”`) : null,
    h("p", { class: "soft small" }, one.fired ? `Fired ${count(one.fired, "time", "times")}` : "Has not fired yet"),
    firings.length ? h("ul", { class: "lines" }, firings.map((firing) => line(firing, people))) : null,
  );
}

function remover(one) {
  const button = h(
    "button",
    {
      type: "button",
      class: "small",
      "aria-label": `Take away: ${ruleWords(one.rule)}`,
      onclick: async () => {
        const done = await carryOut(button, () => command("watch", { remove: one.id }), "The watch is taken away; what it told of stays.");
        if (done) memoryChanged();
      },
    },
    "Take away",
  );
  return button;
}

const STATES = { provisional: "the clip is open: who it is may change", overturned: "the sealed clip says otherwise" };

function line(firing, people) {
  const who = firing.entity ? nameOf(firing.entity, firing.name ?? people.get(firing.entity)?.name) : (firing.name ?? "somebody");
  const where = firing.source ? `, ${firing.source}` : "";
  const words = h(
    "span",
    { class: "lineMain" },
    firing.state === "overturned" ? h("s", null, `${who}${where}`) : `${who}${where}`,
    STATES[firing.state] ? h("span", { class: "soft small" }, ` (${STATES[firing.state]})`) : null,
  );
  return h(
    "li",
    { class: "line" },
    firing.still ? picture(firing.still, `${who}, ${when(firing.at)}`, { class: "thumb" }) : null,
    words,
    h(
      "span",
      { class: "lineTools soft small" },
      firing.clip ? h("a", { href: changed({ clip: firing.clip, at: firing.at }) }, when(firing.at)) : when(firing.at),
    ),
  );
}
