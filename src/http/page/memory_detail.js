// One memory over the page: what it rests on, what became of the fact that it states, and what can be done with it.

import { h } from "./dom.js";
import { changed } from "./route.js";
import { command, may, query } from "./api.js";
import { carryOut, dialog, failure, loading, memoryChanged, meter, picture, soundButton, terms } from "./parts.js";
import { clip, nearestFrame, turnOf } from "./clips.js";
import { about } from "./evidence.js";
import { askToForget } from "./forget.js";
import { everybody } from "./who.js";
import { kindWord, percent, readable, span, when } from "./words.js";

/** Opens the memory `id`. */
export function openMemory(id, closed) {
  const body = h("div", null, loading("Opening the memory"));
  const box = dialog({ title: "Memory", body, closed });
  fill(box, body, id);
  return box;
}

async function fill(box, body, id) {
  try {
    const [shown, people] = await Promise.all([query("show", { what: id }), everybody()]);
    const row = shown.memory;
    box.querySelector("h2").textContent = `${kindWord(row.kind)}: ${id.replace("_", " ")}`;
    body.replaceChildren(
      h("p", { class: "quote" }, readable(shown.text)),
      about({ entities: row.entities }, people) ?? "",
      await scene(row),
      row.fact ? await history(row.fact, id) : "",
      terms([
        ["Happened", span(row.span.start, row.span.end)],
        ["Known since", when(shown.recorded)],
        shown.retirement ? ["Replaced", when(shown.retirement.recorded ?? shown.retirement.at ?? row.span.end)] : null,
        ["Certainty", meter(row.confidence, percent(row.confidence))],
        ["Importance", meter(row.importance, percent(row.importance))],
        ["Rests on", row.grounds.length ? row.grounds.map(ground) : "what was told"],
        ["Made by", row.origin],
        ["Kept for ever", row.pinned ? "yes, it is pinned" : "no"],
      ]),
      tools(box, shown, () => fill(box, body, id)),
    );
  } catch (error) {
    body.replaceChildren(failure(error, () => fill(box, body, id)));
  }
}

async function scene(row) {
  if (!row.clip) return "";
  const shown = await clip(row.clip).catch(() => null);
  const frame = nearestFrame(shown, row.span.start);
  const sound = turnOf(shown, row.span)?.sound;
  const open = h(
    "a",
    { class: "button small", href: changed({ clip: row.clip, at: row.span.start, memory: null }) },
    "Open the clip",
  );
  return h(
    "div",
    { class: "scene" },
    frame ? picture(frame.digest, `${frame.camera} at that time`) : null,
    h("div", { class: "row" }, sound ? soundButton(sound, "Play what was said") : null, open),
  );
}

/** All values that the fact had, the one that holds first; earlier ones struck through with their dates. */
async function history(fact, id) {
  const { hits } = await query("recall", { fact: { subject: fact.subject, attribute: fact.attribute }, limit: 20 });
  const rows = hits.map((hit) => {
    const value = hit.fact.value;
    return h(
      "li",
      { class: hit.memory === id ? "current" : null },
      hit.valid_to ? h("s", null, value) : h("strong", null, value),
      h("span", { class: "soft small" }, ` ${when(hit.start)} – ${hit.valid_to ? when(hit.valid_to) : "now"}`),
      hit.memory === id ? null : h("a", { class: "small", href: changed({ memory: hit.memory }) }, "Open"),
    );
  });
  return h(
    "section",
    null,
    h("h3", null, `${hits[0]?.fact.subject ?? fact.subject} · ${fact.attribute}`),
    h("ol", { class: "history" }, rows),
  );
}

function ground(one) {
  const [kind, value] = Object.entries(one)[0];
  if (Array.isArray(value)) {
    const [clipId, name] = value;
    return h(
      "a",
      { class: "ground", href: changed({ clip: clipId, memory: null }) },
      `${kind} ${String(name).split("_")[1] ?? name} of ${clipId}`,
    );
  }
  if (kind === "memory") return h("a", { class: "ground", href: changed({ memory: value }) }, String(value).replace("_", " "));
  return h("span", { class: "ground" }, `${kind} ${value}`);
}

function tools(box, shown, again) {
  const row = shown.memory;
  const buttons = [];
  if (may("operate")) {
    const [words, told] = row.pinned ? ["Unpin", "It may fade again."] : ["Pin", "It is kept for ever."];
    const pin = h("button", { type: "button", title: "What is pinned neither fades nor ages" }, words);
    pin.addEventListener("click", async () => {
      const change = { memory: row.id, pinned: !row.pinned };
      if (await carryOut(pin, () => command("pin", change), told)) again();
    });
    buttons.push(pin);
  }
  if (may("erase")) {
    buttons.push(
      h(
        "button",
        {
          type: "button",
          class: "quiet danger",
          onclick: () =>
            askToForget({
              title: "Forget this memory?",
              word: "this memory",
              target: { memory: row.id },
              first: `the sentence “${shown.text}”`,
              after: () => {
                box.close();
                memoryChanged();
              },
            }),
        },
        "Forget …",
      ),
    );
  }
  return buttons.length ? h("div", { class: "row" }, buttons) : "";
}
