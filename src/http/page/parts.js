// Pieces that several areas are made of: states, messages, dialogs, sound, meters.

import { h, all, freshId, spoken } from "./dom.js";
import { icon } from "./icons.js";
import { mediaUrl, Refused } from "./api.js";
import { percent } from "./words.js";

/** While something is fetched. */
export const loading = (what = "Looking it up") =>
  h("p", { class: "loading", role: "status" }, h("span", { class: "dot" }), `${what} …`);

/** Where there is nothing, and why. */
export const empty = (title, ...more) =>
  h(
    "div",
    { class: "empty" },
    h("p", { class: "emptyTitle" }, title),
    ...more.map((text) => (text instanceof Node ? text : h("p", null, text))),
  );

/** What went wrong, in the daemon's words, with a way to try again. */
export function failure(error, again) {
  const title =
    error.status === 403 ? "Your role may not see this" : error.status === 0 ? "The daemon is away" : "That did not work";
  return h(
    "div",
    { class: "failure", role: "alert" },
    h("p", { class: "emptyTitle" }, title),
    h("p", null, error.message),
    again && error.status !== 403 ? h("button", { type: "button", onclick: again }, "Try again") : null,
  );
}

/** So many letters of what is impaired are shown at once. */
const SHORT = 220;

/** What is impaired, as an item of a list; a long list of names can be opened. */
export const trouble = (text) =>
  h(
    "li",
    { class: "warning" },
    text.length <= SHORT ? text : h("details", null, h("summary", null, `${text.slice(0, SHORT)} …`), text.slice(SHORT)),
  );

/** A short message at the edge of the page; `bad` ones stay longer. */
export function toast(text, bad = false) {
  const note = h("p", { class: bad ? "toast bad" : "toast" }, text);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), bad ? 9000 : 4500);
}

/** Runs a change behind a button: switched off meanwhile, a refusal told. Gives the reply, or null. */
export async function carryOut(button, change, done) {
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    const reply = await change();
    if (done) toast(typeof done === "function" ? done(reply) : done);
    return reply ?? {};
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    toast(error.message, true);
    return null;
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}

/** A dialog over the page. `close()` ends it; `closed` is called once, however it ends. */
export function dialog({ title, body, actions = [], wide = false, closed = () => {} }) {
  const id = freshId("dialog");
  const before = document.activeElement;
  const shut = h(
    "button",
    { type: "button", class: "plain iconOnly", "aria-label": "Close", onclick: () => box.close() },
    icon("close"),
  );
  const box = h(
    "dialog",
    { class: wide ? "wide" : null, "aria-labelledby": id },
    h("header", null, h("h2", { id, tabindex: "-1", autofocus: true }, title), shut),
    h("div", { class: "dialogBody" }, body),
    actions.length ? h("footer", null, actions) : null,
  );
  box.addEventListener("click", (event) => event.target === box && box.close());
  box.addEventListener("close", () => {
    box.remove();
    if (before?.isConnected) before.focus();
    closed();
  });
  document.body.append(box);
  box.showModal();
  return box;
}

let player = null;

/** A button that plays a sound of the memory; another one that plays is stopped. */
export function soundButton(digest, words = "Play the sound") {
  const label = h("span", { class: "spoken" }, words);
  const shape = h("span", { class: "glyph" }, icon("play"));
  const button = h(
    "button",
    { type: "button", class: "sound", "aria-pressed": "false", title: words, onclick: toggle },
    shape,
    label,
  );
  function toggle() {
    if (player?.button === button) return stop();
    stop();
    const audio = new Audio(mediaUrl(digest));
    player = { audio, button, set };
    set(true);
    audio.addEventListener("ended", stop);
    audio.addEventListener("error", () => {
      stop();
      toast("The sound is not kept any more.", true);
    });
    audio.play().catch(() => {});
  }
  function set(playing) {
    button.setAttribute("aria-pressed", String(playing));
    shape.replaceChildren(icon(playing ? "stop" : "play"));
  }
  return button;
}

/** Ends the sound that plays. */
export function stop() {
  if (!player) return;
  player.audio.pause();
  player.set(false);
  player = null;
}

/** A share of 0 to 1 as a bar with its words. */
export function meter(share, words) {
  return h(
    "span",
    { class: "meter" },
    h("span", { class: "bar", "aria-hidden": "true" }, h("span", { style: { width: percent(share).replace(" ", "") } })),
    h("span", null, words),
  );
}

/** A picture of the memory; where it was given up for the size cap, that is said. */
export function picture(digest, alt, props = {}) {
  const gone = () => img.replaceWith(h("span", { class: "noPicture" }, "This picture is not kept any more."));
  const img = h("img", { src: mediaUrl(digest), alt, loading: "lazy", onerror: gone, ...props });
  return img;
}

/** Terms and values, side by side. */
export const terms = (pairs) =>
  h(
    "dl",
    { class: "terms" },
    pairs.filter(Boolean).map(([term, value]) => h("div", null, h("dt", null, term), h("dd", null, value))),
  );

/** A table with a caption for whoever cannot see it. */
export function table(caption, heads, rows) {
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h(
      "table",
      null,
      h("caption", null, spoken(caption)),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            row.map((cell, at) => h(at ? "td" : "th", at ? null : { scope: "row" }, cell)),
          ),
        ),
      ),
    ),
  );
}

/** Head of an area: its title, a sentence, and what stands on the right. */
export const head = (title, lead, ...right) =>
  h(
    "header",
    { class: "head" },
    h("div", null, h("h1", null, title), lead ? h("p", { class: "soft" }, lead) : null),
    right.length ? h("div", { class: "headRight" }, all(right)) : null,
  );

/** Tells the page that the memory was changed: what is shown is fetched again. */
export const memoryChanged = () => dispatchEvent(new Event("engram:changed"));
