// Replay: which recording is chosen, how it is played, and what came of it.

import { h, all } from "./dom.js";
import * as api from "./api.js";
import { hear } from "./events.js";
import { changed, href } from "./route.js";
import { icon } from "./icons.js";
import { carryOut, empty, head, memoryChanged, table, terms } from "./parts.js";
import { clock, count, duration, iso, ms, number, readable, size, when } from "./words.js";

export const title = "Replay";

/** Of so many sessions, the newest, it is asked what they were: the reply grows with their clips. */
const DESCRIBED = 8;
const RATES = [0.5, 1, 2, 4, 8, "max"];
/** How often it is asked how far the recording is. */
const ASK_EVERY_MS = 2000;

export async function show(params, signal) {
  const [now, kept, status, stats, sessions] = await Promise.all([
    api.query("recordings", {}, signal),
    api.query("snapshots", {}, signal),
    api.status(signal),
    api.stats(signal).catch(() => null),
    api.sql(
      'SELECT session, min(start) / 1000000 AS start, max("end") / 1000000 AS last, count(*) AS clips, sum(frames) AS frames, sum(dropped) AS dropped FROM clips GROUP BY session ORDER BY min(start) DESC LIMIT 40',
      {},
      signal,
    ),
  ]);
  const shown = await Promise.all(
    sessions.slice(0, DESCRIBED).map((one) => api.query("show", { what: one.session }, signal).catch(() => null)),
  );
  const remembered = sessions.map((one, at) => ({
    ...one,
    known: Boolean(shown[at]),
    recording: shown[at]?.session?.recording ?? null,
  }));
  const { playing } = now;
  const current = remembered.find((one) => one.session === status.session && one.recording);
  const played = playing ? current : (current ?? remembered.find((one) => one.recording));
  const came = played ? await summary(played, signal) : null;
  const poll = follow(playing, signal);
  hear("status", (next) => next.session !== status.session && memoryChanged(), signal);
  return all(
    head(
      "Replay",
      !now.plays
        ? "This daemon watches live: there is nothing to play"
        : playing
          ? `${playing.name} is played`
          : played
            ? "The recording is over"
            : null,
    ),
    now.plays && (playing || played) ? player(playing, stats, played, came, poll, signal) : null,
    now.plays || now.folder ? chooser(now) : null,
    kept.ring || kept.snapshots.length ? snapshots(kept) : null,
    now.plays || remembered.length
      ? null
      : empty(
          "No recording is open",
          h("p", null, "Start one with ", h("code", null, "engramd replay FILE --rate 1 --serve"), "."),
        ),
    h("section", { class: "card" }, h("h2", null, "Remembered recordings and sessions"), sessionTable(remembered)),
  );
}

/** Asks again and again how far the recording is; `poll.tell` is told. Begins and ends draw the area anew. */
function follow(playing, signal) {
  const poll = { tell: () => {} };
  const timer = setInterval(async () => {
    const next = await api.query("recordings", {}, signal).catch(() => null);
    if (!next || signal.aborted) return;
    if (next.playing?.name !== playing?.name) memoryChanged();
    else if (next.playing) poll.tell(next.playing);
  }, ASK_EVERY_MS);
  signal.addEventListener("abort", () => clearInterval(timer));
  return poll;
}

// ---------------------------------------------------------------- what is played

function player(playing, stats, session, came, poll, signal) {
  const over = !playing;
  let known = playing ?? { position: iso(session.last), rate: null, paused: false };
  const position = h("strong", { class: "position" });
  const said = h("span", { class: "soft" });
  const behind = h("span", { class: "soft" });
  const bar = h("div", { class: "row player", role: "group", "aria-label": "Steering" });
  const rates = h("div", { class: "row", role: "group", "aria-label": "Rate" });
  const track = seekBar(playing, over, (reply) => tell(reply));
  const write = () => {
    position.textContent = known.position && ms(known.position) > 0 ? when(known.position) : "No clip yet,";
    said.textContent = over
      ? "it is over"
      : known.paused
        ? "paused"
        : known.rate === "max"
          ? "as fast as it can"
          : `${known.rate} times real time`;
    for (const button of rates.children) button.setAttribute("aria-pressed", String(!over && button.dataset.rate === String(known.rate)));
    pause.hidden = known.paused;
    resume.hidden = !known.paused;
    track?.at(known.position);
  };
  const tell = (next) => {
    known = { ...known, ...next };
    write();
  };
  const steer = (verb, words, shape, body = {}) => {
    const button = h("button", { type: "button", disabled: over }, shape ? icon(shape) : null, words);
    button.addEventListener("click", async () => {
      const reply = await carryOut(button, () => api.command(`replay/${verb}`, typeof body === "function" ? body() : body));
      button.disabled = over;
      if (reply) tell(reply);
    });
    return button;
  };
  const pause = steer("pause", "Pause", "stop");
  const resume = steer("resume", "Resume", "play");
  const many = h("input", { type: "number", id: "burst", min: 1, max: 10_000, value: 25, "aria-label": "Frames" });
  bar.append(
    pause,
    resume,
    steer("step", "One frame", "right"),
    steer("burst", "Some frames:", null, () => ({ count: Number(many.value) })),
    many,
    steer("stop", "End it"),
  );
  for (const rate of RATES) {
    const button = steer("rate", rate === "max" ? "As fast as it can" : `${rate} ×`, null, { rate });
    button.dataset.rate = rate;
    rates.append(button);
  }
  poll.tell = tell;
  hear("clock", ({ time, rate, paused }) => tell({ position: time, rate, paused }), signal);
  const late = (now) => (behind.textContent = now.behind_secs > 0.5 ? `${duration(now.behind_secs)} behind its rate` : "");
  if (stats) late(stats);
  hear("stats", late, signal);
  write();
  return h(
    "section",
    { class: "card" },
    h("h2", null, playing?.name ?? session?.recording?.path ?? "Recording"),
    h("p", null, position, " ", said, " ", behind),
    api.may("operate")
      ? all(
          bar,
          rates,
          track?.node ?? seekForm(known.position, over, tell),
          h(
            "p",
            { class: "soft small" },
            "What the recording holds is remembered as it plays. It cannot go back; what is skipped by seeking is remembered, too, as fast as that goes.",
          ),
        )
      : h("p", { class: "soft" }, "Your role may look, but not steer."),
    session ? terms([...whatCame(session), ...came]) : null,
  );
}

/** A bar over the recording, where it is known how long it is. `at(time)` moves it, but not out of a hand. */
function seekBar(playing, over, done) {
  if (over || !playing.start || !playing.end) return null;
  const [start, end] = [ms(playing.start), ms(playing.end)];
  const input = h("input", { type: "range", id: "seekBar", min: 0, max: (end - start) / 1000, step: 0.1 });
  const shown = h("output", { for: "seekBar", class: "soft" });
  let held = false;
  const write = (secs) => {
    const words = clock(iso(start + secs * 1000));
    shown.textContent = `${words} of ${clock(playing.end)}`;
    input.setAttribute("aria-valuetext", words);
  };
  const at = (time) => {
    if (held) return;
    const secs = time ? Math.max(0, (ms(time) - start) / 1000) : 0;
    input.value = secs;
    write(secs);
  };
  input.addEventListener("input", () => {
    held = true;
    write(Number(input.value));
  });
  input.addEventListener("change", async () => {
    const time = iso(start + Number(input.value) * 1000);
    const reply = await carryOut(input, () => api.command("replay/seek", { time }), "It plays from there.");
    held = false;
    done(reply ?? {});
  });
  return { at, node: h("div", { class: "row seek" }, h("label", { for: "seekBar" }, "Seek to"), input, shown) };
}

/** Seeking to a time, where nobody knows how long the recording is. */
function seekForm(position, over, done) {
  const value = position && ms(position) > 0 ? iso(ms(position)).slice(0, 19) : "";
  const input = h("input", { id: "seek", type: "datetime-local", step: "0.1", disabled: over, value });
  const button = h("button", { disabled: over }, "Go there");
  return h(
    "form",
    {
      class: "row",
      onsubmit: async (event) => {
        event.preventDefault();
        const go = () => api.command("replay/seek", { time: `${input.value}Z` });
        const reply = await carryOut(button, go, "It plays from there.");
        button.disabled = over;
        if (reply) done(reply);
      },
    },
    h("label", { for: "seek" }, "Seek to (UTC)"),
    input,
    button,
  );
}

// ---------------------------------------------------------------- what came of it

const whatCame = (session) => [
  [
    "Remembered so far",
    `${clock(iso(session.start))} – ${clock(iso(session.last))}, ${duration((session.last - session.start) / 1000)}`,
  ],
  ["Clips", number(session.clips)],
  ["Frames", number(session.frames)],
  ["Lost", number(session.dropped)],
];

/** Who was there and what is remembered of a session, as terms. */
async function summary(session, signal) {
  const of = `${api.quoted(`${session.session}/`)} || '%'`;
  const [persons, said, memories] = await Promise.all([
    api.sql(
      `SELECT id, coalesce(name, id) AS name FROM people WHERE id IN (SELECT person FROM sightings WHERE clip LIKE ${of} UNION SELECT person FROM utterances WHERE clip LIKE ${of}) ORDER BY id LIMIT 30`,
      {},
      signal,
    ),
    api.sql(`SELECT count(*) AS n FROM utterances WHERE clip LIKE ${of} AND words IS NOT NULL`, {}, signal),
    api.sql(`SELECT kind, count(*) AS n FROM memories WHERE clip LIKE ${of} GROUP BY kind ORDER BY kind`, {}, signal),
  ]);
  const links = persons.flatMap((one, at) => [
    at ? ", " : "",
    h("a", { href: href("people", { who: one.id }) }, readable(one.name)),
  ]);
  const total = memories.reduce((sum, one) => sum + one.n, 0);
  return [
    ["Who was there", links.length ? h("span", null, links) : "nobody"],
    ["Said", count(said[0].n, "utterance")],
    ["Memories", number(total)],
  ];
}

// ---------------------------------------------------------------- what may be played

function chooser({ plays, folder, recordings, playing }) {
  const may = plays && api.may("operate");
  const rows = recordings.map((one) => [
    one.name,
    size(one.bytes),
    when(one.modified),
    one.sessions.length
      ? h(
          "span",
          null,
          one.sessions.flatMap((id, at) => [at ? ", " : "", h("a", { href: changed({ clip: `${id}/0` }) }, id)]),
        )
      : "not yet",
    may ? playButton(one, Boolean(playing)) : "",
  ]);
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Choose a recording"),
    !folder
      ? h("p", { class: "soft" }, "Recordings of the folder ", h("code", null, "replay.folder"), " could be chosen here; none is set.")
      : rows.length
        ? table("Recordings", ["Recording", "Size", "Written", "Remembered in", ""], rows)
        : empty("The folder is empty"),
  );
}

function playButton(one, busy) {
  const again = one.sessions.length > 0;
  const button = h(
    "button",
    {
      type: "button",
      disabled: busy,
      title: busy ? "Another recording is played" : again ? "It is remembered once more, as a new session" : null,
      "aria-label": `${again ? "Play again" : "Play"} ${one.name}`,
    },
    icon("play"),
    again ? "Play again" : "Play",
  );
  button.addEventListener("click", async () => {
    const begun = await carryOut(button, () => api.command("replay/play", { recording: one.name, again }), "It begins.");
    if (begun) button.disabled = true;
  });
  return button;
}

// ---------------------------------------------------------------- what was kept of the last minutes

function snapshots({ ring, snapshots }) {
  const may = api.may("operate");
  const keep = h("button", { type: "button" }, "Keep the last 30 seconds");
  keep.addEventListener("click", async () => {
    if (await carryOut(keep, () => api.command("snapshot", { secs: 30 }), "It is kept.")) memoryChanged();
  });
  const away = (one) => {
    const button = h("button", { type: "button", class: "quiet danger", "aria-label": `Take away ${when(one.start)}` }, "Take away");
    button.addEventListener("click", async () => {
      if (await carryOut(button, () => api.command("snapshot", { remove: one.name }), "It is taken away.")) memoryChanged();
    });
    return button;
  };
  const rows = snapshots.map((one) => [
    when(one.start),
    duration((ms(one.end) - ms(one.start)) / 1000),
    size(one.bytes),
    // (The name of the file is the one that it is kept by.)
    h("a", { href: api.snapshotUrl(one.name), download: "" }, one.name),
    h("a", { href: `${api.snapshotUrl(one.name)}.mp4`, download: "", "aria-label": `Film of ${when(one.start)}` }, "Film"),
    may ? away(one) : "",
  ]);
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Snapshots of the last minutes"),
    rows.length ? table("Snapshots", ["From", "Length", "Size", "Name", "", ""], rows) : h("p", { class: "soft" }, "None is kept."),
    h("div", { class: "row" }, ring && may ? keep : null),
  );
}

function sessionTable(sessions) {
  if (!sessions.length) return empty("Nothing is remembered yet");
  return table(
    "Sessions",
    ["Session", "What", "From", "Length", "Clips", "Lost"],
    sessions.map((one) => [
      h("a", { href: changed({ clip: `${one.session}/0` }) }, one.session),
      one.recording ? one.recording.path : one.known ? "live" : "",
      h("a", { href: href("day", { day: iso(one.start).slice(0, 10) }) }, when(iso(one.start))),
      duration((one.last - one.start) / 1000),
      count(one.clips, "clip"),
      number(one.dropped),
    ]),
  );
}
