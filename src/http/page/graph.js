// Graph: one person or thing in the middle, and what it hangs together with around it.

import { h, all, svg } from "./dom.js";
import { go, href } from "./route.js";
import { mediaUrl, query, quoted, sql } from "./api.js";
import { empty, failure, head } from "./parts.js";
import { everybody, hue, nameOf } from "./who.js";
import { count, idWord, readable } from "./words.js";

export const title = "Graph";

/** Of the drawing; `flat`: how much wider than high its rings are, `label`: letters of a label. */
const WIDE = { width: 900, height: 640, flat: 1.35, label: 26 };
const NARROW = { width: 430, height: 640, flat: 0.68, label: 15 };
/** Radius of the ring of persons, things and facts, and of that of memories. */
const INNER = 175;
const OUTER = 285;
/** More nodes than this stand in two rows. */
const CROWD = 9;
const MOST = { inner: 14, memories: 16 };

export async function show(params, signal) {
  const people = await everybody();
  const of = params.get("of") ?? [...people.values()].find((one) => one.name)?.id ?? [...people.keys()][0];
  if (!of)
    return all(
      head("Graph"),
      empty("Nothing hangs together yet", "As soon as somebody is known, they stand here with what they said, did and own."),
    );
  let around;
  try {
    around =
      of.startsWith("person_") || [...people.values()].some((one) => one.name === of)
        ? await ofPerson(of, people, signal)
        : await ofThing(of, people, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return all(head("Graph"), chooser(of, people), failure(error));
  }
  return all(
    head("Graph", `What hangs together with ${around.name}`, chooser(of, people)),
    h(
      "div",
      { class: "graphBox card", tabindex: "0", role: "group", "aria-label": `Graph around ${around.name}` },
      draw(around, people),
    ),
    asList(around),
  );
}

function chooser(of, people) {
  const options = [...people.values()].map((one) => h("option", { value: one.id }, nameOf(one.id, one.name)));
  if (!people.has(of)) options.unshift(h("option", { value: of }, of));
  const select = h(
    "select",
    { id: "of", "aria-label": "Whom or what", onchange: () => go(href("graph", { of: select.value })) },
    options,
  );
  select.value = of;
  return select;
}

// ---------------------------------------------------------------- what is around

/** A node: `{key, kind, name, note, href, weight}`; `kind` is person, thing, fact, part or memory. */
async function ofPerson(of, people, signal) {
  const shown = await query("show", { what: of }, signal);
  const person = shown.profile;
  const ids = [person.id, ...person.aliases.filter((one) => one.startsWith("person_"))];
  const own = ids.map(quoted).join(",");
  const [profile, things, together, claims, company] = await Promise.all([
    query("profile", { who: person.id }, signal),
    sql(
      `SELECT f.subject, f.attribute, f.value, f.valid_to FROM facts AS f JOIN memories AS m ON m.id = f.memory WHERE EXISTS (SELECT 1 FROM json_each(m.entities) WHERE value IN (${own})) AND f.subject NOT LIKE 'person~_%' ESCAPE '~' ORDER BY f.valid_to IS NULL DESC, f.valid_from DESC LIMIT 8`,
      {},
      signal,
    ),
    sql(
      `SELECT other.value AS id, count(*) AS n FROM memories, json_each(memories.entities) AS one, json_each(memories.entities) AS other WHERE one.value IN (${own}) AND other.value NOT IN (${own}) GROUP BY other.value ORDER BY n DESC LIMIT 10`,
      {},
      signal,
    ),
    person.name
      ? sql(
          `SELECT subject, value FROM facts WHERE attribute = 'relation' AND valid_to IS NULL AND instr(value, ${quoted(person.name)}) LIMIT 12`,
          {},
          signal,
        )
      : [],
    shared(person.id, people, signal),
  ]);
  const persons = new Map();
  const tie = (id, note, weight) => {
    const resolved = people.has(id) ? id : [...people.values()].find((one) => one.aliases?.includes(id))?.id;
    if (!resolved || resolved === person.id) return;
    const known = persons.get(resolved);
    persons.set(resolved, { note: known ? `${known.note}, ${note}` : note, weight: (known?.weight ?? 0) + weight });
  };
  const facts = [];
  for (const fact of profile.facts) {
    const other = [...people.values()].find(
      (one) => one.name && new RegExp(`\\b${escaped(one.name)}\\b`).test(fact.value) && one.id !== person.id,
    );
    if (other) tie(other.id, fact.value, 4);
    else
      facts.push({
        key: fact.memory,
        kind: "fact",
        name: fact.value,
        note: fact.attribute,
        href: href("graph", { of, memory: fact.memory }),
        weight: 1,
      });
  }
  for (const claim of claims) tie(claim.subject, claim.value, 4);
  for (const one of together) tie(one.id, `${count(one.n, "memory", "memories")} together`, one.n);
  for (const one of company) tie(one.id, one.note, one.weight);
  const inner = [
    ...[...persons].map(([id, { note, weight }]) => ({
      key: id,
      kind: "person",
      name: nameOf(id, people.get(id)?.name),
      note,
      href: href("graph", { of: id }),
      weight,
    })),
    ...onePer(things, "subject").map((one) => ({
      key: one.subject,
      kind: "thing",
      name: one.subject,
      note: one.valid_to ? `${one.value}, before` : one.value,
      href: href("graph", { of: one.subject }),
      weight: 2,
      past: Boolean(one.valid_to),
    })),
    ...facts,
    ...[...person.faces, ...person.voices].map((part) => ({
      key: part,
      kind: "part",
      name: idWord(part),
      note: part.startsWith("face") ? "face" : "voice",
      href: href("people", { who: person.id }),
      weight: 1,
    })),
  ];
  return {
    id: person.id,
    kind: "person",
    name: nameOf(person.id, person.name),
    inner: inner.slice(0, MOST.inner),
    memories: memoryNodes(shown.memories, of),
  };
}

/** The first row of each value of a column. */
const onePer = (rows, column) => [...new Map(rows.toReversed().map((row) => [row[column], row])).values()].reverse();

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** With whom somebody was in the same clips. */
async function shared(id, people, signal) {
  const rows = await sql(
    `SELECT other.person AS id, count(DISTINCT other.clip) AS n FROM (SELECT DISTINCT clip FROM sightings WHERE person = ${quoted(id)} ORDER BY start DESC LIMIT 500) AS own JOIN sightings AS other ON other.clip = own.clip WHERE other.person IS NOT NULL AND other.person <> ${quoted(id)} GROUP BY other.person ORDER BY n DESC LIMIT 8`,
    {},
    signal,
  ).catch(() => []);
  return rows
    .filter((row) => people.has(row.id))
    .map((row) => ({ id: row.id, note: `seen in ${row.n === 1 ? "a clip" : `${row.n} clips`} together`, weight: row.n }));
}

async function ofThing(of, people, signal) {
  const { hits } = await query("recall", { fact: { subject: of }, limit: 30 }, signal);
  const inner = hits.map((hit) => ({
    key: hit.memory,
    kind: "fact",
    name: hit.fact.value,
    note: hit.valid_to ? `${hit.fact.attribute}, before` : hit.fact.attribute,
    href: href("graph", { of, memory: hit.memory }),
    weight: hit.valid_to ? 1 : 3,
    past: Boolean(hit.valid_to),
  }));
  const persons = [...new Set(hits.flatMap((hit) => hit.entities))]
    .filter((id) => people.has(id))
    .map((id) => ({
      key: id,
      kind: "person",
      name: nameOf(id, people.get(id)?.name),
      note: "told or did it",
      href: href("graph", { of: id }),
      weight: 2,
    }));
  const about = await query("recall", { query: of, limit: MOST.memories, kinds: ["utterance", "note"] }, signal);
  return {
    id: of,
    kind: "thing",
    name: of,
    inner: [...persons, ...inner].slice(0, MOST.inner),
    memories: memoryNodes(
      about.hits.filter((hit) => hit.text.toLowerCase().includes(of.toLowerCase())),
      of,
    ),
  };
}

const memoryNodes = (memories, of) =>
  memories.slice(-MOST.memories).map((one) => ({
    key: one.memory,
    kind: "memory",
    name: readable(one.text),
    note: "",
    href: href("graph", { of, memory: one.memory }),
    weight: 1,
    about: one.entities,
  }));

// ---------------------------------------------------------------- the drawing

function draw(around, people) {
  const size = innerWidth < 700 ? NARROW : WIDE;
  const [cx, cy] = [size.width / 2, size.height / 2];
  const spot = (at, of, radius, turn) => {
    const angle = (2 * Math.PI * at) / of + turn;
    return [cx + radius * size.flat * Math.cos(angle), cy + radius * Math.sin(angle)];
  };
  const heaviest = Math.max(1, ...around.inner.map((one) => one.weight));
  const edges = [];
  const nodes = [];
  const places = new Map();
  // Many stand in two rows, with their names alone: the list tells the rest.
  const crowded = around.inner.length > CROWD;
  around.inner.forEach((one, at) => {
    const radius = crowded ? INNER + (at % 2 ? 45 : -30) : INNER;
    const [x, y] = spot(at, around.inner.length, radius, -Math.PI / 2);
    places.set(one.key, [x, y]);
    edges.push(
      svg("line", { x1: cx, y1: cy, x2: x, y2: y, class: `edge ${one.kind}`, "stroke-width": 1 + 3 * (one.weight / heaviest) }),
    );
    nodes.push(node(crowded ? { ...one, note: "" } : one, x, y, people, size));
  });
  around.memories.forEach((one, at) => {
    const [x, y] = spot(at, around.memories.length, OUTER, -Math.PI / 2 + 0.12);
    const tied = (one.about ?? []).map((id) => places.get(id)).filter(Boolean);
    for (const [x1, y1] of tied.length ? tied : [[cx, cy]])
      edges.unshift(svg("line", { x1, y1, x2: x, y2: y, class: "edge memory" }));
    nodes.unshift(node(one, x, y, people, size));
  });
  const middle = node(
    {
      key: around.id,
      kind: around.kind,
      name: around.name,
      note: "",
      href: around.kind === "person" ? href("people", { who: around.id }) : href("things", { what: around.id }),
      middle: true,
    },
    cx,
    cy,
    people,
    size,
  );
  return svg("svg", { class: "graph", viewBox: `0 0 ${size.width} ${size.height}` }, edges, nodes, middle);
}

function node(one, x, y, people, size) {
  const radius = one.middle ? 46 : one.kind === "person" ? 28 : one.kind === "memory" ? 7 : 9;
  const chip = people.get(one.key)?.chips?.[0]?.media;
  const clipId = `round-${one.key.replace(/\W/g, "_")}${one.middle ? "-middle" : ""}`;
  const shape = chip
    ? [
        svg("clipPath", { id: clipId }, svg("circle", { cx: x, cy: y, r: radius })),
        svg("image", {
          href: mediaUrl(chip),
          x: x - radius,
          y: y - radius,
          width: 2 * radius,
          height: 2 * radius,
          "clip-path": `url(#${clipId})`,
          preserveAspectRatio: "xMidYMid slice",
        }),
        svg("circle", { cx: x, cy: y, r: radius, class: "rim" }),
      ]
    : [
        svg("circle", { cx: x, cy: y, r: radius, class: "dotNode" }),
        one.kind === "person"
          ? svg("text", { x, y: y + 6, class: "initial", "text-anchor": "middle", "aria-hidden": "true" }, one.name[0])
          : null,
      ];
  const words = one.note ? `${one.name}, ${one.note}` : one.name;
  const link = svg(
    "a",
    {
      href: one.href,
      class: `node ${one.kind}${one.middle ? " middle" : ""}`,
      "aria-label": words,
      style: one.kind === "person" ? { "--hue": hue(one.key) } : null,
    },
    svg("title", null, words),
    shape,
  );
  if (one.kind === "memory") return link;
  // The words stand beside the link, which has a name of its own; what they cover belongs to it.
  link.append(svg("rect", { class: "hit", x: x - 60, y: y + radius, width: 120, height: 34 }));
  return svg(
    "g",
    null,
    link,
    label(one.name, x, y + radius + 16, one.past ? "label past" : "label", size.label),
    one.note ? label(one.note, x, y + radius + 31, "underLabel", size.label) : null,
  );
}

const label = (text, x, y, kind, most) =>
  svg("text", { x, y, class: kind, "text-anchor": "middle", "aria-hidden": "true" }, short(text, most));

const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The same as a list: for small screens and for whoever cannot see the drawing. */
function asList(around) {
  const group = (words, nodes) =>
    nodes.length
      ? h(
          "section",
          { class: "card" },
          h("h2", null, words),
          h(
            "ul",
            { class: "plainList" },
            nodes.map((one) =>
              h(
                "li",
                null,
                h("a", { class: "lineText", href: one.href }, one.name),
                one.note ? h("span", { class: "soft small" }, ` ${one.note}`) : null,
              ),
            ),
          ),
        )
      : null;
  return h("div", { class: "columns" }, group("Around", around.inner), group("Remembered", around.memories.toReversed()));
}
