// Memory: everything that is remembered, searched by words and chips, now or as it was known before.

import { h, all } from "./dom.js";
import { go, here, href } from "./route.js";
import { query, quoted, sql, stats } from "./api.js";
import { hear } from "./events.js";
import { empty, failure, head } from "./parts.js";
import { memoryLine } from "./evidence.js";
import { everybody } from "./who.js";
import { parse, written } from "./search.js";
import { count, iso, KIND_NAMES, kindWord, percent, when } from "./words.js";

export const title = "Memory";

const PAGE = 40;

export async function show(params, signal) {
  const text = params.get("q") ?? "";
  const wanted = parse(text);
  const asOf = params.get("as_of");
  const [people, seq] = await Promise.all([
    everybody(),
    stats(signal).then(
      (all) => all.counts.commits,
      () => null,
    ),
  ]);
  const more = Number(params.get("more")) || 1;
  let result;
  try {
    result = await search(wanted, asOf, PAGE * more, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    result = { failed: error };
  }
  if (!text && !asOf) {
    let wake = 0;
    hear(
      "event/memory",
      () => {
        clearTimeout(wake);
        wake = setTimeout(
          () =>
            !signal.aborted &&
            !document.querySelector("dialog") &&
            document.activeElement?.id !== "search" &&
            dispatchEvent(new Event("engram:changed")),
          1500,
        );
      },
      signal,
    );
    signal.addEventListener("abort", () => clearTimeout(wake));
  }
  return all(
    head("Memory", "Everything that is remembered; the newest first where nothing is searched for"),
    searchBox(text, wanted, asOf, people),
    sliderHost(asOf, seq, signal),
    h("section", { "aria-label": "Found", "aria-live": "polite" }, found(result, people, text, asOf, more)),
  );
}

// ---------------------------------------------------------------- what is found

/** Words go to recall; chips alone, and nothing at all, to the newest rows. */
async function search(wanted, asOf, limit, signal) {
  const at = asOf ? { as_of: asOf } : {};
  if (wanted.text) {
    const args = { query: wanted.text, limit, ...at };
    if (wanted.who) args.entity = wanted.who;
    if (wanted.where) args.place = wanted.where;
    if (wanted.kinds.length) args.kinds = wanted.kinds;
    if (wanted.day) Object.assign(args, dayBounds(wanted.day));
    const reply = await query("recall", args, signal);
    return { hits: reply.hits, note: reply.note, time: reply.time, full: reply.hits.length >= limit };
  }
  if (wanted.where) {
    const reply = await query(
      "recall",
      { query: wanted.where, place: wanted.where, limit, ...(wanted.kinds.length ? { kinds: wanted.kinds } : {}), ...at },
      signal,
    );
    return { hits: reply.hits, full: reply.hits.length >= limit };
  }
  const where = [];
  if (wanted.who) {
    const shown = await query("show", { what: wanted.who, ...at }, signal);
    const ids = [shown.profile.id, ...shown.profile.aliases].map(quoted).join(",");
    where.push(`EXISTS (SELECT 1 FROM json_each(entities) WHERE value IN (${ids}))`);
  }
  if (wanted.kinds.length) where.push(`kind IN (${wanted.kinds.map(quoted).join(",")})`);
  if (wanted.day) {
    const { start, end } = dayBounds(wanted.day);
    where.push(`start BETWEEN ${Date.parse(start)}000000 AND ${Date.parse(end)}000000`);
  }
  const rows = await sql(
    `SELECT id FROM memories ${where.length ? `WHERE ${where.join(" AND ")}` : ""} ORDER BY start DESC LIMIT ${limit}`,
    at,
    signal,
  );
  const hits = await Promise.all(
    rows.map((row) =>
      query("show", { what: row.id, ...at }, signal).then(
        ({ text, memory }) => ({
          memory: memory.id,
          kind: memory.kind,
          text,
          start: memory.span.start,
          end: memory.span.end,
          valid_to: memory.valid_to,
          clip: memory.clip,
          entities: memory.entities,
        }),
        () => null,
      ),
    ),
  );
  return { hits: hits.filter(Boolean), full: rows.length >= limit };
}

const dayBounds = (day) => ({ start: `${day}T00:00:00Z`, end: `${day}T23:59:59Z` });

function found(result, people, text, asOf, more) {
  if (result.failed) return failure(result.failed);
  const { hits } = result;
  if (!hits.length)
    return text
      ? empty("Nothing remembered fits", "Fewer chips or other words may find it.")
      : empty("Nothing is remembered yet");
  return all(
    result.note ? h("p", { class: "warning" }, result.note) : null,
    result.time ? h("p", { class: "soft" }, `Time understood as ${when(result.time.start)} to ${when(result.time.end)}.`) : null,
    h(
      "ul",
      { class: "lines card" },
      hits.map((hit) =>
        memoryLine(hit, people, {
          extra: hit.score === undefined ? null : h("span", { title: (hit.why ?? []).join(", ") }, `fits ${percent(hit.score)}`),
        }),
      ),
    ),
    result.full
      ? h("a", { class: "button", href: href("memory", { q: text, as_of: asOf, more: more + 1 }) }, "More")
      : h("p", { class: "soft small" }, count(hits.length, "memory", "memories")),
  );
}

// ---------------------------------------------------------------- what is searched

function searchBox(text, wanted, asOf, people) {
  const input = h("input", {
    type: "search",
    id: "search",
    value: text,
    autocomplete: "off",
    placeholder: "red mug who:Joe kind:utterance when:yesterday",
    "aria-describedby": "searchHelp",
  });
  const form = h(
    "form",
    {
      class: "askBox",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        go(href("memory", { q: input.value.trim(), as_of: asOf }));
      },
    },
    h("label", { class: "spoken", for: "search" }, "Search the memory"),
    h("div", { class: "askRow" }, input, h("button", { class: "primary" }, "Search")),
    h(
      "p",
      { class: "soft small", id: "searchHelp" },
      "Words, and chips: ",
      h("code", null, "who:"),
      " ",
      h("code", null, "where:"),
      " ",
      h("code", null, "when:"),
      " ",
      h("code", null, "kind:"),
      "; spaces inside quotes.",
    ),
  );
  const toggle = (change) => href("memory", { q: written({ ...wanted, ...change }), as_of: asOf });
  const kinds = KIND_NAMES.map((kind) => {
    const on = wanted.kinds.includes(kind);
    return h(
      "a",
      {
        class: on ? "chip on" : "chip",
        "aria-current": on ? "true" : null,
        href: toggle({ kinds: on ? wanted.kinds.filter((one) => one !== kind) : [...wanted.kinds, kind] }),
      },
      kindWord(kind),
    );
  });
  const named = [...people.values()]
    .filter((one) => one.name)
    .slice(0, 6)
    .map((one) => {
      const on = wanted.who?.toLowerCase() === one.name.toLowerCase();
      return h(
        "a",
        { class: on ? "chip on" : "chip", "aria-current": on ? "true" : null, href: toggle({ who: on ? null : one.name }) },
        one.name,
      );
    });
  return h("div", null, form, h("div", { class: "chips", role: "group", "aria-label": "Kinds and people" }, kinds, named));
}

// ---------------------------------------------------------------- as it was known

/** How many commits there are is told by the statistics: until their first, there is no slider. */
function sliderHost(asOf, seq, signal) {
  const host = h("div", null, slider(asOf, seq, signal));
  if (!seq) hear("stats", ({ counts }) => host.firstChild ?? host.append(slider(asOf, counts.commits, signal) ?? ""), signal);
  return host;
}

/** Commits are counted from 1; what a commit knew reached to the end of its newest clip. */
function slider(asOf, seq, signal) {
  if (!seq || seq < 2) return null;
  const chosen = asOf?.startsWith("seq:") ? Number(asOf.slice(4)) : seq;
  const words = h("output", { for: "as_of", class: "small" });
  const input = h("input", { type: "range", id: "as_of", min: 1, max: Math.max(seq, chosen), step: 1, value: chosen });
  const say = async () => {
    const value = Number(input.value);
    const now = value >= seq;
    const text = now ? "as it is known now" : `as it was known after commit ${value} of ${seq}`;
    words.textContent = text;
    input.setAttribute("aria-valuetext", text);
    if (now) return;
    const rows = await sql('SELECT max("end") / 1000000 AS at FROM clips', { as_of: `seq:${value}` }, signal).catch(() => []);
    if (rows[0]?.at && Number(input.value) === value) words.textContent = `${text}, when it reached to ${when(iso(rows[0].at))}`;
  };
  input.addEventListener("input", say);
  input.addEventListener("change", () => {
    const value = Number(input.value);
    go(href("memory", { q: here().params.get("q"), as_of: value >= seq ? null : `seq:${value}` }));
  });
  say();
  return h(
    "div",
    { class: asOf ? "asOf past" : "asOf" },
    h("label", { for: "as_of" }, "As of"),
    input,
    words,
    asOf ? h("a", { class: "small", href: href("memory", { q: here().params.get("q") }) }, "Back to now") : null,
  );
}
