// Day: who was seen and who spoke, a row per person, with a cursor that shows the moment under it.

import { h, all } from "./dom.js";
import { changed, go, note } from "./route.js";
import { icon } from "./icons.js";
import { query, sql } from "./api.js";
import { hear } from "./events.js";
import { clip, nearestFrame } from "./clips.js";
import { empty, head, picture, soundButton } from "./parts.js";
import { everybody, face, hue, nameOf } from "./who.js";
import { calendar } from "./calendar.js";
import { visits } from "./visits.js";
import { clock, clockShort, count, dayKey, dayLong, duration, iso, ms, timezone } from "./words.js";

export const title = "Day";

/** Blocks nearer than this share of the width are drawn as one. */
const JOIN = 0.003;
/** The shortest stretch that can be looked at. */
const SHORTEST_MS = 20_000;
/** How long the day is left alone between two sealed clips. */
const QUIET_MS = 4000;

export async function show(params, signal) {
  const newest = (await sql("SELECT max(start) / 1000000 AS at FROM clips", {}, signal))[0]?.at;
  if (!newest) return all(head("Day"), empty("No day is remembered yet", "A day has rows as soon as a first clip is sealed."));
  const day = params.get("day") ?? dayKey(iso(newest));
  const [timeline, people] = await Promise.all([query("timeline", { day, timezone: timezone() }, signal), everybody()]);
  const [things, stays] = await Promise.all([thingsOf(timeline, signal), visits(timeline, signal)]);
  let wake = 0;
  hear(
    "event/memory",
    (memory) => {
      if (dayKey(memory.start) !== day) return;
      clearTimeout(wake);
      wake = setTimeout(
        () => !signal.aborted && !document.querySelector("dialog") && dispatchEvent(new Event("engram:changed")),
        QUIET_MS,
      );
    },
    signal,
  );
  signal.addEventListener("abort", () => clearTimeout(wake));
  const bar = head(dayLong(`${day}T12:00:00Z`), lead(timeline), await calendar(day, signal));
  if (!timeline.rows.length) return all(bar, empty("Nobody was seen or heard on this day"), clipList(timeline));
  const range = chosenRange(params, timeline);
  const moment = h("section", { class: "moment card", "aria-live": "polite", "aria-label": "The moment under the cursor" });
  return all(bar, zoom(range), chart(timeline, things, people, range, params, moment), moment, stays, clipList(timeline));
}

function lead(timeline) {
  const persons = timeline.rows.filter((row) => row.person).length;
  return timeline.rows.length ? `${count(persons, "person", "people")}, ${count(timeline.clips.length, "clip")}` : null;
}

/** Things that were followed on that day, as rows like those of persons. */
async function thingsOf({ start, end }, signal) {
  const rows = await sql(
    `SELECT coalesce(object, label) AS thing, label, source, start / 1000000 AS start, "end" / 1000000 AS last FROM object_sightings WHERE start BETWEEN ${ms(start)}000000 AND ${ms(end)}000000 ORDER BY start LIMIT 2000`,
    {},
    signal,
  ).catch(() => []);
  const byThing = new Map();
  for (const row of rows) {
    const known = byThing.get(row.thing) ?? { thing: row.thing, name: row.label, blocks: [] };
    known.blocks.push({ kind: "thing", start: row.start, end: row.last, source: row.source });
    byThing.set(row.thing, known);
  }
  return [...byThing.values()].slice(0, 12);
}

// ---------------------------------------------------------------- the stretch

/** From the address, else what happened with a little room around it. */
function chosenRange(params, timeline) {
  const blocks = timeline.rows.flatMap((row) => row.blocks);
  const first = Math.min(...blocks.map((block) => ms(block.start)));
  const last = Math.max(...blocks.map((block) => ms(block.end)));
  const room = Math.max(2000, (last - first) * 0.02);
  const whole = { start: first - room, end: last + room };
  const start = Number(params.get("from")) || whole.start;
  const end = Number(params.get("to")) || whole.end;
  return end - start >= 1000 ? { start, end, whole } : { ...whole, whole };
}

function zoom(range) {
  const width = range.end - range.start;
  const at = (start, end) => changed({ from: Math.round(start), to: Math.round(end) });
  const middle = (range.start + range.end) / 2;
  const closer = Math.max(SHORTEST_MS, width / 2) / 2;
  const link = (words, address, shape) =>
    h(
      "a",
      { class: "button small", href: address },
      shape === "left" ? icon(shape) : null,
      words,
      shape === "right" ? icon(shape) : null,
    );
  return h(
    "div",
    { class: "row zoom" },
    link("Earlier", at(range.start - width / 2, range.end - width / 2), "left"),
    link("Closer", at(middle - closer, middle + closer)),
    link("Wider", at(middle - width, middle + width)),
    link("All", changed({ from: null, to: null })),
    link("Later", at(range.start + width / 2, range.end + width / 2), "right"),
    h("span", { class: "soft small" }, `${clock(iso(range.start))} – ${clock(iso(range.end))}, ${duration(width / 1000)}`),
  );
}

// ---------------------------------------------------------------- the rows

function chart(timeline, things, people, range, params, moment) {
  const share = (time) => ((ms(time) - range.start) / (range.end - range.start)) * 100;
  const cursor = h("div", { class: "cursor", "aria-hidden": "true" });
  const at = Math.min(range.end, Math.max(range.start, Number(params.get("t")) || firstMoment(timeline, range)));
  const scrub = h("input", {
    type: "range",
    id: "scrub",
    class: "scrub",
    min: range.start,
    max: range.end,
    step: 200,
    value: at,
    "aria-label": "Moment",
  });
  const move = () => {
    const time = Number(scrub.value);
    cursor.style.setProperty("left", `${share(time)}%`);
    scrub.setAttribute("aria-valuetext", clock(iso(time)));
    showMoment(moment, timeline, people, time);
  };
  scrub.addEventListener("input", move);
  scrub.addEventListener("change", () => note({ t: scrub.value }));
  const rows = timeline.rows.map((row) => personRow(row, people, range, share));
  const other = things.map((thing) => thingRow(thing, range, share));
  const box = h(
    "div",
    { class: "chart" },
    h("div", { class: "chartHead" }, h("span"), h("div", { class: "track axis", "aria-hidden": "true" }, ticks(range, share))),
    h(
      "div",
      { class: "chartHead" },
      h("span", { class: "soft small legend" }, h("i", { class: "seen" }), "seen ", h("i", { class: "spoke" }), "spoke"),
      scrub,
    ),
    rows,
    other,
    h("div", { class: "cursorRow", "aria-hidden": "true" }, cursor),
  );
  queueMicrotask(move);
  return box;
}

function firstMoment(timeline, range) {
  const starts = timeline.rows
    .flatMap((row) => row.blocks.map((block) => ms(block.start)))
    .filter((time) => time >= range.start && time <= range.end);
  return starts.length ? Math.min(...starts) + 500 : range.start;
}

/** Times on round minutes or hours: eight at most, on a narrow page three. */
function ticks(range, share) {
  const steps = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600].map((secs) => secs * 1000);
  const step = steps.find((one) => (range.end - range.start) / one <= (innerWidth < 860 ? 3 : 7)) ?? 43_200_000;
  const times = [];
  const edge = (range.end - range.start) * 0.04;
  for (let at = Math.ceil((range.start + edge) / step) * step; at <= range.end - edge; at += step) times.push(at);
  const word = step < 60_000 ? clock : clockShort;
  return times.map((time) => h("span", { class: "tick", style: { left: `${share(time)}%` } }, word(iso(time))));
}

/** Neighbouring blocks of one kind as one, so that a long day stays a few hundred elements. */
function joined(blocks, range) {
  const gap = (range.end - range.start) * JOIN;
  const open = new Map();
  const made = [];
  for (const block of blocks) {
    const [start, end] = [ms(block.start), ms(block.end)];
    if (end < range.start || start > range.end) continue;
    const before = open.get(block.kind);
    if (before && start - before.end <= gap && end - before.start < 40 * gap) {
      before.end = Math.max(before.end, end);
      before.texts.push(block.text);
      continue;
    }
    const one = { kind: block.kind, start, end, texts: [block.text], source: block.source };
    open.set(block.kind, one);
    made.push(one);
  }
  return made;
}

function personRow(row, people, range, share) {
  const id = row.person ?? "";
  const name = row.person ? nameOf(row.person, row.name) : "Undecided";
  const label = h(
    "span",
    { class: "rowLabel" },
    face(id, people.get(id)),
    row.person ? h("a", { href: `#/people?who=${id}` }, name) : h("span", { class: "soft" }, name),
  );
  return h(
    "div",
    { class: "chartRow", style: { "--hue": hue(id) } },
    label,
    h(
      "div",
      { class: "track" },
      joined(row.blocks, range).map((block) => blockLink(block, name, share)),
    ),
  );
}

function thingRow(thing, range, share) {
  return h(
    "div",
    { class: "chartRow thing" },
    h("span", { class: "rowLabel soft" }, thing.name),
    h(
      "div",
      { class: "track" },
      joined(thing.blocks, range).map((block) => blockLink(block, thing.name, share)),
    ),
  );
}

const VERBS = { seen: "was seen", spoke: "spoke", thing: "was seen" };

function blockLink(block, name, share) {
  const left = Math.max(0, share(block.start));
  const width = Math.min(100, share(block.end)) - left;
  const text = block.texts.filter(Boolean).join(" ");
  const words = `${name} ${VERBS[block.kind]}, ${clock(iso(block.start))} – ${clock(iso(block.end))}${text ? `: ${text}` : ""}`;
  return h("a", {
    class: `block ${block.kind}`,
    href: "#",
    "aria-label": words,
    title: words,
    style: { left: `${left}%`, width: `max(4px, ${width}%)` },
    onclick: (event) => {
      event.preventDefault();
      openAt(block.start);
    },
  });
}

/** Opens the clip that holds a moment. */
async function openAt(time) {
  const rows = await sql(
    `SELECT id FROM clips WHERE start <= ${Math.round(time)}000000 AND "end" > ${Math.round(time)}000000 ORDER BY start DESC LIMIT 1`,
  );
  if (rows[0]) go(changed({ clip: rows[0].id, at: iso(time) }));
}

// ---------------------------------------------------------------- the moment

let asked = 0;

async function showMoment(moment, timeline, people, time) {
  const turn = (asked += 1);
  const mark = timeline.clips.find((one) => ms(one.start) <= time && time < ms(one.end));
  const under = (block) => ms(block.start) <= time && time <= ms(block.end);
  const present = timeline.rows.filter((row) => row.blocks.some((block) => block.kind === "seen" && under(block)));
  const speaking = timeline.rows.flatMap((row) =>
    row.blocks.filter((block) => block.kind === "spoke" && under(block)).map((block) => ({ row, block })),
  );
  const still = h("div", { class: "still" });
  const words = h(
    "div",
    { class: "momentWords" },
    h("h2", null, clock(iso(time))),
    h(
      "p",
      { class: "row" },
      present.length
        ? present.map((row) =>
            h(
              "span",
              { class: "who" },
              face(row.person ?? "", people.get(row.person)),
              nameOf(row.person ?? "", row.name ?? people.get(row.person)?.name),
            ),
          )
        : h("span", { class: "soft" }, "Nobody in view"),
    ),
    speaking.map(({ row, block }) =>
      h(
        "blockquote",
        null,
        h("strong", null, row.person ? nameOf(row.person, row.name) : "Somebody"),
        " ",
        block.text ?? h("span", { class: "soft" }, "no words were understood"),
      ),
    ),
    mark
      ? h("a", { class: "button small", href: changed({ clip: mark.clip, at: iso(time) }) }, "Open the clip")
      : h("p", { class: "soft" }, "No clip of this moment"),
  );
  const shown = mark ? await clip(mark.clip).catch(() => null) : null;
  if (turn !== asked) return;
  const frame = nearestFrame(shown, time);
  still.append(
    frame ? picture(frame.digest, `${frame.camera} at ${clock(frame.at)}`) : h("span", { class: "noPicture" }, "No picture"),
  );
  const heard = shown?.turns.find((one) => ms(one.start) <= time && time <= ms(one.end) && one.sound);
  if (heard) words.append(" ", soundButton(heard.sound, "Play what was said"));
  moment.replaceChildren(still, words);
}

function clipList(timeline) {
  if (!timeline.clips.length) return null;
  return h(
    "details",
    { class: "more" },
    h("summary", null, `Clips of this day: ${timeline.clips.length}`),
    h(
      "ul",
      { class: "chips" },
      timeline.clips
        .slice(0, 500)
        .map((one) => h("li", null, h("a", { class: "chip", href: changed({ clip: one.clip, at: null }) }, clock(one.start)))),
    ),
  );
}
