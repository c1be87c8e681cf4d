// A clip over the page: its pictures, who was in it, what was said with its sound, what is remembered of it.

import { h } from "./dom.js";
import { changed } from "./route.js";
import { icon } from "./icons.js";
import { clip as fetchClip, nearestFrame } from "./clips.js";
import { quoted, sql } from "./api.js";
import { dialog, empty, failure, loading, picture, soundButton } from "./parts.js";
import { everybody, face, nameOf } from "./who.js";
import { notThem } from "./split.js";
import { clock, count, kindWord, ms, readable, span } from "./words.js";

/** Opens the clip `id`; `at`: the moment of interest. */
export function openClip(id, at, closed) {
  const body = h("div", null, loading("Opening the clip"));
  const box = dialog({ title: `Clip ${id}`, body, wide: true, closed });
  fill(box, body, id, at);
  return box;
}

async function fill(box, body, id, at) {
  let shown, people, beside;
  try {
    [shown, people, beside] = await Promise.all([fetchClip(id), everybody(), neighbours(id)]);
  } catch (error) {
    body.replaceChildren(failure(error, () => fill(box, body, id, at)));
    return;
  }
  const { start, end } = shown.clip.span;
  box.querySelector("h2").textContent = span(start, end);
  const from = at ?? start;
  body.replaceChildren(
    beside,
    h(
      "div",
      { class: "clipColumns" },
      h("div", null, pictures(shown, from), seen(shown, people), things(shown)),
      said(shown, from),
    ),
    remembered(shown),
  );
}

/** Links to the clips before and after, where there are any. */
async function neighbours(id) {
  const [session, number] = id.split("/");
  const n = Number(number);
  const ids = [n - 1, n + 1].map((k) => `${session}/${k}`);
  const rows = await sql(`SELECT id FROM clips WHERE id IN (${ids.map(quoted).join(",")})`);
  const known = new Set(rows.map((row) => row.id));
  const link = (k, words, shape) =>
    h(
      "a",
      { class: "button small", href: changed({ clip: `${session}/${k}`, at: null }) },
      shape === "left" ? icon(shape) : null,
      words,
      shape === "right" ? icon(shape) : null,
    );
  return h(
    "div",
    { class: "row spread" },
    known.has(ids[0]) ? link(n - 1, "Clip before", "left") : h("span"),
    known.has(ids[1]) ? link(n + 1, "Clip after", "right") : null,
  );
}

function pictures(shown, from) {
  const frames = shown.clip.key_frames;
  if (!frames.length)
    return empty(
      "No picture was kept of this clip.",
      "Pictures are kept of what changes; the oldest go first when the space that they may take is full.",
    );
  const first = nearestFrame(shown, from);
  const caption = h("figcaption", { class: "soft small" });
  const large = h("div", { class: "large" });
  const strip = h("div", { class: "strip", role: "group", "aria-label": "Pictures of this clip" });
  const choose = (frame) => {
    large.replaceChildren(picture(frame.digest, `${frame.camera} at ${clock(frame.at)}`));
    caption.textContent = `${frame.camera}, ${clock(frame.at)}`;
    for (const button of strip.children) button.setAttribute("aria-pressed", String(button.dataset.digest === frame.digest));
  };
  for (const [camera, at, digest] of frames) {
    strip.append(
      h(
        "button",
        {
          type: "button",
          "data-digest": digest,
          "aria-label": `${camera} at ${clock(at)}`,
          onclick: () => choose({ camera, at, digest }),
        },
        picture(digest, ""),
      ),
    );
  }
  choose(first);
  return h("figure", { class: "pictures" }, large, caption, strip);
}

function said(shown, from) {
  const near = ms(from);
  const turns = shown.turns.map((turn) => {
    const current = near >= ms(turn.start) && near <= ms(turn.end);
    return h(
      "li",
      { class: current ? "turn current" : "turn" },
      turn.sound
        ? soundButton(turn.sound, `Play ${clock(turn.start)}`)
        : h("span", { class: "sound none", title: "The sound was not kept" }, icon("voice")),
      h(
        "div",
        null,
        h(
          "p",
          { class: "small" },
          h("strong", null, turn.person ? nameOf(turn.person, turn.name) : "Somebody"),
          h("span", { class: "soft" }, ` ${clock(turn.start)}`),
        ),
        h("p", null, turn.words || h("span", { class: "soft" }, "no words were understood")),
      ),
    );
  });
  return h(
    "section",
    null,
    h("h3", null, "Said"),
    turns.length ? h("ul", { class: "turns" }, turns) : h("p", { class: "soft" }, "Nobody spoke."),
  );
}

function seen(shown, people) {
  const rows = shown.tracks.map((track) =>
    h(
      "li",
      { class: "seenRow" },
      face(track.person ?? track.face ?? "", people.get(track.person)),
      h(
        "div",
        null,
        track.person ? h("a", { href: `#/people?who=${track.person}` }, nameOf(track.person, track.name)) : "Somebody, undecided",
        h(
          "p",
          { class: "soft small" },
          `${clock(track.start)} – ${clock(track.end)}, ${track.source}, ${count(track.sightings, "sighting")}`,
        ),
      ),
      track.person && track.face ? notThem(track.face, track.person, track.name) : null,
    ),
  );
  return h(
    "section",
    null,
    h("h3", null, "Seen"),
    rows.length ? h("ul", { class: "plainList" }, rows) : h("p", { class: "soft" }, "Nobody was in view."),
  );
}

function things(shown) {
  if (!shown.objects.length) return null;
  return h(
    "section",
    null,
    h("h3", null, "Things"),
    h(
      "ul",
      { class: "plainList" },
      shown.objects.map((one) =>
        h("li", null, one.name ?? one.label, h("span", { class: "soft small" }, ` ${clock(one.start)} – ${clock(one.end)}`)),
      ),
    ),
  );
}

function remembered(shown) {
  return h(
    "details",
    { class: "more" },
    h("summary", null, `Remembered of it: ${count(shown.memories.length, "sentence")}`),
    h(
      "ul",
      { class: "lines" },
      shown.memories.map((memory) =>
        h(
          "li",
          { class: "line" },
          h("span", { class: `kind ${memory.kind}` }, kindWord(memory.kind)),
          h("a", { class: "lineText", href: changed({ memory: memory.memory, clip: null, at: null }) }, readable(memory.text)),
        ),
      ),
    ),
  );
}
