// Replay: how a recording is played. A replay's state is known by its replies; what comes of it by its clips.

import { h, all } from "./dom.js";
import * as api from "./api.js";
import { hear } from "./events.js";
import { changed, href } from "./route.js";
import { icon } from "./icons.js";
import { carryOut, empty, head, memoryChanged, table, terms } from "./parts.js";
import { clock, count, duration, iso, ms, number, when } from "./words.js";

export const title = "Replay";

/** Of so many sessions, the newest, it is asked what they were: the reply grows with their clips. */
const DESCRIBED = 8;
const RATES = [0.5, 1, 2, 4, 8, "max"];

/** What the last reply said: rate, paused and position; the daemon tells them nowhere else. */
let known = {};

export async function show(params, signal) {
  const [status, stats, sessions] = await Promise.all([
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
  const recordings = sessions.map((one, at) => ({
    ...one,
    known: Boolean(shown[at]),
    recording: shown[at]?.session?.recording ?? null,
  }));
  const sources = Object.values(stats?.sources ?? {});
  const isLive = sources.some((source) => source.state);
  const isReplay = !isLive && (sources.length > 0 || Boolean(status.session) || recordings.some((one) => one.recording));
  const over = isOver(status, stats);
  hear("status", (now) => now.session !== status.session && memoryChanged(), signal);
  hear("stats", (now) => isOver(status, now) !== over && memoryChanged(), signal);
  const current = recordings.find((one) => one.session === status.session && one.recording);
  const played = current ?? (over ? recordings.find((one) => one.recording) : null);
  return all(
    head(
      "Replay",
      isReplay
        ? over
          ? "The recording is over"
          : "A recording is played"
        : isLive
          ? "This daemon watches live: there is nothing to play"
          : null,
    ),
    isReplay && (!over || played)
      ? player(status, stats, played, signal)
      : empty(
          "No recording is open",
          h("p", null, "Start one with ", h("code", null, "engramd replay FILE --rate 1 --serve"), "."),
        ),
    h("section", { class: "card" }, h("h2", null, "Remembered recordings and sessions"), sessionTable(recordings)),
  );
}

/** A session has a name from its first clip on; before, only its sources tell that something plays. */
const isOver = (status, stats) =>
  !status.session && !known.paused && !Object.values(stats?.sources ?? {}).some((source) => source.per_sec > 0);

function player(status, stats, session, signal) {
  const over = isOver(status, stats);
  const may = api.may("operate");
  const position = h("strong", { class: "position" });
  const said = h("span", { class: "soft" });
  const behind = h("span", { class: "soft" });
  const bar = h("div", { class: "row player", role: "group", "aria-label": "Steering" });
  const rates = h("div", { class: "row", role: "group", "aria-label": "Rate" });
  const write = () => {
    const at = Math.max(known.position ? ms(known.position) : 0, session?.last ?? 0);
    position.textContent = at ? when(iso(at)) : "No clip yet,";
    said.textContent = over
      ? "it is over"
      : known.paused
        ? "paused"
        : known.rate
          ? `${known.rate === "max" ? "as fast as it can" : `${known.rate} times real time`}`
          : "playing";
    for (const button of rates.children) button.setAttribute("aria-pressed", String(button.dataset.rate === String(known.rate)));
    pause.hidden = known.paused === true;
    resume.hidden = known.paused !== true;
  };
  const steer = (verb, words, shape, body = {}) => {
    const button = h("button", { type: "button", disabled: over }, shape ? icon(shape) : null, words);
    button.addEventListener("click", async () => {
      const reply = await carryOut(button, () => api.command(`replay/${verb}`, typeof body === "function" ? body() : body));
      button.disabled = over;
      if (reply) known = { ...known, ...reply };
      write();
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
  );
  for (const rate of RATES) {
    const button = steer("rate", rate === "max" ? "As fast as it can" : `${rate} ×`, null, { rate });
    button.dataset.rate = rate;
    rates.append(button);
  }
  hear(
    "event/memory",
    (memory) => {
      known.position = iso(Math.max(known.position ? ms(known.position) : 0, ms(memory.end)));
      write();
    },
    signal,
  );
  hear(
    "clock",
    (clockEvent) => {
      known = { position: clockEvent.time, rate: clockEvent.rate, paused: clockEvent.paused };
      write();
    },
    signal,
  );
  const tell = (now) => (behind.textContent = now.behind_secs > 0.5 ? `${duration(now.behind_secs)} behind its rate` : "");
  if (stats) tell(stats);
  hear("stats", tell, signal);
  write();
  return h(
    "section",
    { class: "card" },
    h("h2", null, session?.recording?.path ?? "Recording"),
    h("p", null, position, " ", said, " ", behind),
    may
      ? all(
          bar,
          rates,
          seekForm(session, over, (reply) => {
            known = { ...known, ...reply };
            write();
          }),
          h(
            "p",
            { class: "soft small" },
            "What the recording holds is remembered as it plays; what is skipped by seeking is not.",
          ),
        )
      : h("p", { class: "soft" }, "Your role may look, but not steer."),
    session
      ? terms([
          [
            "Remembered so far",
            `${clock(iso(session.start))} – ${clock(iso(session.last))}, ${duration((session.last - session.start) / 1000)}`,
          ],
          ["Clips", number(session.clips)],
          ["Frames", number(session.frames)],
          ["Lost", number(session.dropped)],
          ["Memories", number(stats?.counts.memories ?? 0)],
          ["Persons", number(stats?.counts.persons ?? 0)],
        ])
      : null,
  );
}

/** Seeking goes to a time of the recording; how long the recording is, the daemon does not tell. */
function seekForm(session, over, done) {
  const input = h("input", {
    id: "seek",
    type: "datetime-local",
    step: "0.1",
    disabled: over,
    value: session ? iso(session.last).slice(0, 19) : "",
  });
  const button = h("button", { disabled: over }, "Go there");
  return h(
    "form",
    {
      class: "row",
      onsubmit: async (event) => {
        event.preventDefault();
        const reply = await carryOut(
          button,
          () => api.command("replay/seek", { time: `${input.value}Z` }),
          "It plays from there.",
        );
        button.disabled = over;
        if (reply) done(reply);
      },
    },
    h("label", { for: "seek" }, "Seek to (UTC)"),
    input,
    button,
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
