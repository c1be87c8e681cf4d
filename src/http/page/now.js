// Now: what the cameras see, who is here, what is being said, and what the robot cannot do at the moment.

import { h, all } from "./dom.js";
import { icon } from "./icons.js";
import * as api from "./api.js";
import { hear } from "./events.js";
import { changed, note } from "./route.js";
import { clip } from "./clips.js";
import { carryOut, empty, head, picture, trouble } from "./parts.js";
import { everybody, face, nameOf, peopleChanged } from "./who.js";
import { clock, duration, iso, memoryNow, ms } from "./words.js";

export const title = "Now";

/** How often a still is fetched anew. */
const STILL_MS = 1000;
/** Lines of speech that are shown. */
const LINES = 14;
/** Who was in view so shortly before the end of what is sealed counts as here. */
const HERE_SECS = 3;
/** What was said so long before is shown. */
const SAID_SECS = 900;
/** Live, what is sealed is at most so old, unless nobody was there since. */
const OPEN_SECS = 45;
/** Browsers open six connections to one host: more cameras than this are shown as stills. */
const LIVE_CAMERAS = 2;

export async function show(params, signal) {
  const [status, stats, people, { seen, spoken, newest }] = await Promise.all([
    api.status(signal),
    api.stats(signal).catch(() => null),
    everybody(),
    lately(signal),
  ]);
  const lives = await isLive(stats, status, newest);
  const reached = lives ? Math.max(memoryNow(), Date.now() - OPEN_SECS * 1000) : memoryNow();
  const here = inView(seen, reached);
  const live = params.get("live") !== "off";
  return all(
    head("Now", sentence(status, lives, seen, spoken), microphones(status, stats, signal)),
    troubles(status, signal),
    h(
      "div",
      { class: "nowGrid" },
      cameras(await sourceNames(stats), here, live, signal),
      h("div", { class: "nowSide" }, whoIsHere(here, people, signal), said(spoken, people, signal)),
    ),
  );
}

/** Who was seen and what was said before the end of what is sealed, the newest first; `newest`: the newest clip's id. */
async function lately(signal) {
  const reached = memoryNow();
  if (!reached) return { seen: [], spoken: [], newest: null };
  const timeline = await api.query("timeline", { start: iso(reached - SAID_SECS * 1000), end: iso(reached + 1) }, signal);
  const blocks = timeline.rows.flatMap((row) =>
    row.blocks.map((block) => ({ ...block, person: row.person, name: row.name, start: ms(block.start), last: ms(block.end) })),
  );
  const of = (kind) => blocks.filter((block) => block.kind === kind);
  const clipAt = (time) => timeline.clips.find((one) => ms(one.start) <= time && time < ms(one.end))?.clip;
  return {
    seen: of("seen").sort((a, b) => b.last - a.last),
    spoken: of("spoke")
      .sort((a, b) => b.start - a.start)
      .slice(0, LINES)
      .map((turn) => ({ ...turn, clip: clipAt(turn.start) })),
    newest: timeline.clips.at(-1)?.clip ?? null,
  };
}

/** Sources of a recording have no state. */
const hasLiveSource = (stats) => Object.values(stats?.sources ?? {}).some((source) => source.state);

/** Whether cameras and microphones are listened to; before the first statistics the session tells. */
async function isLive(stats, status, newest) {
  if (stats && Object.keys(stats.sources).length) return hasLiveSource(stats);
  const id = status.session ?? newest?.split("/")[0];
  const shown = id ? await api.query("show", { what: id }).catch(() => null) : null;
  return shown ? !shown.session.recording : false;
}

function sentence(status, lives, seen, spoken) {
  const newest = Math.max(seen[0]?.last ?? 0, spoken[0]?.start ?? 0);
  if (!newest)
    return status.session
      ? "The first clip is still open: who was in it is told when it is sealed."
      : "Nobody was seen or heard yet.";
  if (!lives)
    return status.session
      ? `A recording is played; its newest moment is ${clock(newest)}.`
      : `The recording is over; this is its end, ${clock(newest)}.`;
  const ago = (Date.now() - newest) / 1000;
  return ago < 60 ? "Somebody was seen or heard just now." : `Nobody was seen or heard for ${duration(ago)}.`;
}

// ---------------------------------------------------------------- what is wrong

function troubles(status, signal) {
  const list = h("ul", { class: "troubles", "aria-label": "What the robot cannot do at the moment" });
  const fill = ({ degraded }) => {
    list.replaceChildren(...degraded.map(trouble));
    list.hidden = degraded.length === 0;
  };
  fill(status);
  hear("status", fill, signal);
  return list;
}

const SWITCHED_OFF = "microphones are switched off";

/** The switch for the microphones: live only, so a replay has none. */
function microphones(status, stats, signal) {
  const host = h("div");
  let [now, figures] = [status, stats];
  const write = () => {
    if (!hasLiveSource(figures) || !api.may("operate")) return host.replaceChildren();
    const off = now.degraded.some((one) => one.includes(SWITCHED_OFF));
    const button =
      host.firstChild ??
      h("button", {
        type: "button",
        id: "microphones",
        onclick: () =>
          carryOut(button, () => api.command("privacy", { microphones: button.getAttribute("aria-pressed") === "false" })),
      });
    button.setAttribute("aria-pressed", String(!off));
    button.replaceChildren(icon("mic"), off ? "Microphones are off" : "Microphones are on");
    host.replaceChildren(button);
  };
  hear(
    "status",
    (one) => {
      now = one;
      write();
    },
    signal,
  );
  hear(
    "stats",
    (one) => {
      figures = one;
      if (!host.firstChild) write();
    },
    signal,
  );
  write();
  return host;
}

// ---------------------------------------------------------------- cameras

/** Open sources, and cameras of which the newest clip has pictures. */
async function sourceNames(stats) {
  const rows = await api.sql("SELECT id FROM clips ORDER BY start DESC LIMIT 1").catch(() => []);
  const newest = rows[0] ? await clip(rows[0].id).catch(() => null) : null;
  return [...new Set([...Object.keys(stats?.sources ?? {}), ...(newest?.clip.key_frames ?? []).map(([name]) => name)])];
}

function cameras(names, present, live, signal) {
  const wall = h("div", { class: "wall" });
  const none = empty("No camera gives a picture", "It is shown as soon as one comes.");
  const tiles = new Map();
  const add = (wanted) => {
    for (const name of wanted.filter((one) => !tiles.has(one))) {
      const tile = camera(name, present, live && tiles.size < LIVE_CAMERAS, signal, () => {
        tile.remove();
        tiles.delete(name);
        none.hidden = tiles.size > 0;
      });
      tiles.set(name, tile);
      wall.append(tile);
    }
    none.hidden = tiles.size > 0;
  };
  add(names);
  // A camera that had no picture yet is asked again; so, in vain, is a microphone.
  hear("stats", ({ sources }) => add(Object.keys(sources)), signal);
  return h("section", { "aria-label": "Cameras", class: "cameras" }, wall, none);
}

/** One camera's picture with the names of who is in it. A source that gives no picture is a microphone. */
function camera(name, present, live, signal, without) {
  const image = h("img", { alt: `What ${name} sees`, class: "live" });
  const mode = h("button", { type: "button", class: "small", "aria-pressed": String(live) }, "Live");
  const names = h("span", { class: "inView" });
  const tile = h("figure", { class: "tile" }, image, h("figcaption", null, h("strong", null, name), names, mode));
  let timer = 0;
  let shown = false;
  const still = () => {
    clearTimeout(timer);
    if (!signal.aborted && document.visibilityState === "visible") image.src = api.stillUrl(name);
    else if (!signal.aborted) timer = setTimeout(still, STILL_MS);
  };
  const start = () => (live ? (image.src = api.liveUrl(name)) : still());
  image.addEventListener("load", () => {
    shown = true;
    tile.classList.add("shown");
    clearTimeout(timer);
    if (!live && !signal.aborted) timer = setTimeout(still, STILL_MS);
  });
  image.addEventListener("error", () => {
    if (signal.aborted) return;
    if (live) {
      live = false;
      mode.setAttribute("aria-pressed", "false");
      still();
    } else if (shown) timer = setTimeout(still, 2 * STILL_MS);
    else showKept();
  });
  /** Where nothing is open, the last picture that is kept; a source without any is a microphone. */
  const showKept = async () => {
    const frame = await newestKept(name);
    if (signal.aborted) return;
    if (!frame) return without();
    tile.classList.add("shown");
    mode.replaceWith(h("span", { class: "soft small" }, `last kept picture, ${clock(frame.at)}`));
    image.replaceWith(picture(frame.digest, `The last picture of ${name}`, { class: "live" }));
  };
  mode.addEventListener("click", () => {
    live = !live;
    mode.setAttribute("aria-pressed", String(live));
    note({ live: live ? null : "off" });
    start();
  });
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    image.removeAttribute("src");
  });
  const here = new Map(present.filter((one) => one.source === name).map((one) => [one.person, one.name]));
  const write = () => names.replaceChildren(...[...here].map(([id, known]) => h("span", { class: "tag" }, nameOf(id, known))));
  hear(
    "event/person",
    (event) => {
      if (event.source !== name) return;
      if (event.event === "appeared" || event.event === "new") here.set(event.person, event.name);
      if (event.event === "left") here.delete(event.person);
      write();
    },
    signal,
  );
  everybody().then((people) => {
    for (const id of here.keys()) here.set(id, people.get(id)?.name ?? null);
    write();
  });
  start();
  return tile;
}

async function newestKept(camera) {
  const rows = await api.sql("SELECT id FROM clips ORDER BY start DESC LIMIT 3").catch(() => []);
  for (const { id } of rows) {
    const shown = await clip(id).catch(() => null);
    const frames = (shown?.clip.key_frames ?? []).filter(([name]) => name === camera);
    if (frames.length) return { at: frames.at(-1)[1], digest: frames.at(-1)[2] };
  }
  return null;
}

/** Whose sighting reaches to the end of what is known, each once. */
function inView(seen, reached) {
  const found = new Map();
  for (const one of seen)
    if (one.person && one.last >= reached - HERE_SECS * 1000 && !found.has(one.person)) found.set(one.person, one);
  return [...found.values()];
}

// ---------------------------------------------------------------- who, and what is said

function whoIsHere(present, people, signal) {
  const list = h("ul", { class: "here", "aria-live": "polite" });
  const here = new Map(
    present.map((one) => [one.person, { name: people.get(one.person)?.name, since: one.start, source: one.source }]),
  );
  const write = async () => {
    const known = await everybody().catch(() => people);
    list.replaceChildren(
      ...(here.size ? [...here].map(([id, one]) => row(id, one, known)) : [h("li", { class: "soft" }, "Nobody is in view.")]),
    );
  };
  hear(
    "event/person",
    (event) => {
      if (event.event === "left") here.delete(event.person);
      else if (event.event === "appeared" || event.event === "new")
        here.set(event.person, { name: event.name, since: ms(event.at), source: event.source, guess: event.provisional });
      else if (here.has(event.person)) here.get(event.person).name = event.name;
      if (event.event === "new" || event.event === "named") peopleChanged();
      write();
    },
    signal,
  );
  write();
  return h("section", { class: "card" }, h("h2", null, "Here"), list);
}

function row(id, one, people) {
  const known = people.get(id);
  const words = nameOf(id, known?.name ?? one.name);
  return h(
    "li",
    null,
    face(id, known, "middle"),
    h(
      "div",
      null,
      id.startsWith("person_") ? h("a", { href: `#/people?who=${id}` }, words) : words,
      h(
        "p",
        { class: "soft small" },
        `since ${clock(one.since)}${one.source ? `, ${one.source}` : ""}${one.guess ? ", a first guess" : ""}`,
      ),
    ),
  );
}

function said(spoken, people, signal) {
  const list = h("ol", { class: "said", "aria-live": "polite", "aria-relevant": "additions" });
  const partial = h("li", { class: "partial", hidden: true });
  const known = new Map();
  const put = (turn) => {
    const line = speech(turn, people);
    const before = known.get(turn.start);
    if (before) before.replaceWith(line);
    else list.insertBefore(line, partial);
    known.set(turn.start, line);
    while (list.children.length > LINES + 1) list.firstChild.remove();
    list.scrollTop = list.scrollHeight;
  };
  list.append(partial);
  spoken.toReversed().forEach(put);
  hear(
    "event/speech",
    (event) => {
      partial.hidden = !event.partial;
      if (event.partial) partial.replaceChildren(h("span", { class: "soft" }, "somebody: "), event.text ?? "…");
      else if (event.text) put({ ...event, start: ms(event.start) });
    },
    signal,
  );
  requestAnimationFrame(() => (list.scrollTop = list.scrollHeight));
  const nothing = spoken.length ? null : h("p", { class: "soft" }, "Nothing was said yet.");
  return h("section", { class: "card" }, h("h2", null, "Being said"), nothing, list);
}

function speech(turn, people) {
  const person = people.get(turn.person);
  const who = turn.person ? nameOf(turn.person, turn.name ?? person?.name) : "Somebody";
  return h(
    "li",
    null,
    face(turn.person ?? "", person),
    h(
      "div",
      null,
      h(
        "p",
        { class: "small" },
        h("strong", null, who),
        " ",
        turn.clip
          ? h("a", { class: "soft", href: changed({ clip: turn.clip, at: iso(turn.start) }) }, clock(turn.start))
          : h("span", { class: "soft" }, clock(turn.start)),
      ),
      h("p", null, turn.text || h("span", { class: "soft" }, "no words were understood")),
    ),
  );
}
