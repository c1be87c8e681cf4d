// Things and places: where each thing is and was, and where the robot stayed.

import { h, all, svg } from "./dom.js";
import { changed, href } from "./route.js";
import { may, query, requestId, sql } from "./api.js";
import { empty, failure, head, table } from "./parts.js";
import { askToForget } from "./forget.js";
import { everybody, nameOf } from "./who.js";
import { clock, count, duration, idWord, iso, when } from "./words.js";

export const title = "Things and places";
export const short = "Things";

const MAP = { width: 640, height: 360, edge: 36 };

export async function show(params, signal) {
  const [objects, sightings, places, people] = await Promise.all([
    sql("SELECT object, place, since / 1000000 AS since, told_by, memory FROM objects ORDER BY since DESC LIMIT 500", {}, signal),
    sql(
      'SELECT object, label, count(*) AS n, max("end") / 1000000 AS last FROM object_sightings GROUP BY object, label ORDER BY last DESC LIMIT 200',
      {},
      signal,
    ),
    query("places", {}, signal),
    everybody(),
  ]);
  const what = params.get("what");
  return all(
    head("Things and places", "Where things are, as it was seen or said, and where the robot stayed"),
    what ? await thing(what, people, signal) : null,
    h("section", { class: "card" }, h("h2", null, "Things"), thingTable(objects, people)),
    sightings.length ? h("section", { class: "card" }, h("h2", null, "Seen by the detector"), seenTable(sightings)) : null,
    h("section", { class: "card" }, h("h2", null, "Places"), placesOf(places.places, params), await near(params, people, signal)),
  );
}

function thingTable(objects, people) {
  if (!objects.length)
    return empty(
      "No thing has a place yet",
      "“I put the red mug in the sink”, said in the room or told as a note, gives it one.",
    );
  return table(
    "Things and where they are",
    ["Thing", "Where", "Since", "Who says so", ""],
    objects.map((one) => [
      h("a", { href: href("things", { what: one.object }) }, one.object),
      one.place,
      when(iso(one.since)),
      one.told_by
        ? h("a", { href: href("people", { who: one.told_by }) }, nameOf(one.told_by, people.get(one.told_by)?.name))
        : h("span", { class: "soft" }, "a note"),
      may("ask")
        ? h("a", { class: "small", href: href("ask", { q: `Where is the ${one.object}?`, c: requestId() }) }, "Ask")
        : null,
    ]),
  );
}

function seenTable(sightings) {
  return table(
    "Things that the detector follows",
    ["Thing", "Times", "Last"],
    sightings.map((one) => [one.object ? `${one.label} (${idWord(one.object)})` : one.label, one.n, when(iso(one.last))]),
  );
}

/** Where a thing was: the place that holds first, earlier ones struck through. */
async function thing(what, people, signal) {
  let hits;
  try {
    ({ hits } = await query("recall", { fact: { subject: what }, limit: 50 }, signal));
  } catch (error) {
    return failure(error);
  }
  const rows = hits.map((hit) =>
    h(
      "li",
      null,
      hit.valid_to ? h("s", null, hit.fact.value) : h("strong", null, hit.fact.value),
      h(
        "span",
        { class: "soft small" },
        ` ${hit.fact.attribute === "location" ? "" : `${hit.fact.attribute}, `}${when(hit.start)} – ${hit.valid_to ? when(hit.valid_to) : "now"} `,
      ),
      h("a", { class: "small", href: changed({ memory: hit.memory }) }, "Why"),
      hit.clip ? h("a", { class: "small", href: changed({ clip: hit.clip, at: hit.start }) }, "Clip") : null,
    ),
  );
  const forget =
    may("erase") && hits.length
      ? h(
          "button",
          {
            type: "button",
            class: "quiet danger",
            onclick: () =>
              askToForget({
                title: `Forget the ${what}?`,
                word: `the ${what}`,
                target: { entity: what },
                after: () => {
                  location.hash = "#/things";
                  dispatchEvent(new Event("engram:changed"));
                },
              }),
          },
          "Forget …",
        )
      : null;
  return h(
    "section",
    { class: "card", "aria-label": what },
    h("div", { class: "row spread" }, h("h2", null, what), h("a", { class: "small", href: "#/things" }, "Close")),
    rows.length ? h("ol", { class: "history" }, rows) : h("p", { class: "soft" }, "Nothing tells of it."),
    h("div", { class: "row" }, h("a", { class: "button", href: href("graph", { of: what }) }, "Graph"), forget),
  );
}

// ---------------------------------------------------------------- places

function placesOf(places, params) {
  if (!places.length)
    return empty("No place is known yet", "Poses of the robot give places, and so does “We are in the kitchen now”.");
  const placed = places.filter((place) => place.x !== undefined && place.x !== null);
  return all(
    placed.length ? map(placed, params) : null,
    table(
      "Places and how long the robot stayed there",
      ["Place", "Stays", "In all", "Since"],
      places.map((place) => [place.name ?? idWord(place.id), place.stays, duration(place.secs), when(place.since)]),
    ),
  );
}

/** Places by their positions; a click asks what was near that point. */
function map(places, params) {
  const [xs, ys] = [places.map((place) => place.x), places.map((place) => place.y)];
  const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const reach = Math.max(2, Math.max(...xs) - Math.min(...xs), (Math.max(...ys) - Math.min(...ys)) * (MAP.width / MAP.height));
  const scale = (MAP.width - 2 * MAP.edge) / reach;
  const place = (x, y) => [MAP.width / 2 + (x - middle[0]) * scale, MAP.height / 2 - (y - middle[1]) * scale];
  const longest = Math.max(...places.map((one) => one.secs), 1);
  const dots = places.map((one) => {
    const [cx, cy] = place(one.x, one.y);
    const name = one.name ?? idWord(one.id);
    return svg(
      "a",
      { href: changed({ x: one.x.toFixed(2), y: one.y.toFixed(2) }), "aria-label": `${name}, ${count(one.stays, "stay")}` },
      svg("circle", { cx, cy, r: 6 + 14 * Math.sqrt(one.secs / longest) }),
      svg("text", { x: cx, y: cy + 34, "text-anchor": "middle" }, name),
    );
  });
  const [x, y] = [Number(params.get("x")), Number(params.get("y"))];
  const chosen = params.has("x") ? svg("circle", { class: "chosen", cx: place(x, y)[0], cy: place(x, y)[1], r: 5 }) : null;
  const drawing = svg(
    "svg",
    {
      class: "map",
      viewBox: `0 0 ${MAP.width} ${MAP.height}`,
      role: "group",
      "aria-label": `Places in ${places[0].frame ?? "the map"}`,
    },
    metre(scale),
    dots,
    chosen,
  );
  drawing.addEventListener("click", (event) => {
    if (event.target !== drawing) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
    location.hash = changed({
      x: ((at.x - MAP.width / 2) / scale + middle[0]).toFixed(2),
      y: (middle[1] - (at.y - MAP.height / 2) / scale).toFixed(2),
    });
  });
  return drawing;
}

/** How long a metre is. */
const metre = (scale) =>
  svg(
    "g",
    { class: "scale", "aria-hidden": "true" },
    svg("path", { d: `M16 ${MAP.height - 20}v6h${scale}v-6` }),
    svg("text", { x: 22, y: MAP.height - 22 }, "1 m"),
  );

async function near(params, people, signal) {
  if (!params.has("x")) return null;
  const point = { x: Number(params.get("x")), y: Number(params.get("y")) };
  let found;
  try {
    found = (await query("places", point, signal)).near;
  } catch (error) {
    return failure(error);
  }
  const persons = (found?.persons ?? []).map(([id, name, at]) =>
    h(
      "li",
      null,
      h("a", { href: href("people", { who: id }) }, nameOf(id, name ?? people.get(id)?.name)),
      h("span", { class: "soft small" }, ` last ${when(at)}`),
    ),
  );
  const things = (found?.things ?? []).map((one) =>
    h(
      "li",
      null,
      h("a", { href: href("things", { what: one.object }) }, one.object),
      h("span", { class: "soft small" }, ` ${one.place}, ${one.distance_m.toFixed(1)} m away`),
    ),
  );
  return h(
    "div",
    null,
    h("h3", null, `Within 2 m of ${point.x}, ${point.y}`),
    persons.length || things.length
      ? h("ul", { class: "plainList" }, persons, things)
      : h("p", { class: "soft" }, `Nobody and nothing; the robot was there ${count(found?.stays.length ?? 0, "time")}.`),
    (found?.stays ?? []).slice(0, 6).map((stay) => h("span", { class: "chip" }, `${clock(stay.start)} – ${clock(stay.end)}`)),
  );
}
