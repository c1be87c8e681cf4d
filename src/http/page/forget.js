// Forgetting in two steps: what goes is counted by the daemon and shown first, then erased for good.

import { h } from "./dom.js";
import { command } from "./api.js";
import { carryOut, dialog, failure, loading, memoryChanged } from "./parts.js";
import { count, duration, size } from "./words.js";

/** Asks, shows what goes, and erases. `target`: the payload of `forget`; `first`: a line before those of what goes; `after`: where to go then. */
export function askToForget({ title, target, first = null, word, after = memoryChanged }) {
  const body = h("div", null, loading("Counting what goes"));
  const sure = h("input", { type: "checkbox", id: "sure" });
  const erase = h("button", { type: "button", class: "danger", disabled: true }, "Erase for good");
  const keep = h("button", { type: "button", onclick: () => box.close() }, "Keep");
  const box = dialog({ title, body, actions: [keep, erase] });
  sure.addEventListener("change", () => (erase.disabled = !sure.checked));
  erase.addEventListener("click", async () => {
    const done = await carryOut(erase, () => command("forget", target), "Erased.");
    if (!done) return;
    box.close();
    after();
  });
  const tally = async () => {
    try {
      const lines = told(await command("forget", { ...target, dry_run: true }));
      body.replaceChildren(
        h("p", null, "This goes, at every point in time:"),
        h(
          "ul",
          { class: "tally" },
          [first, ...lines].filter(Boolean).map((line) => h("li", null, line)),
        ),
        h(
          "p",
          { class: "soft" },
          "In sentences about others, the name becomes “<erased>”. Nothing brings it back, no backup is kept; that something was erased stays in the audit, not what.",
        ),
        h("label", { class: "check", for: "sure" }, sure, ` Yes, erase ${word}`),
      );
    } catch (error) {
      body.replaceChildren(failure(error, tally));
    }
  };
  tally();
}

/** The counts of a dry run in words; what is nought is left out. */
function told(goes) {
  const some = (n, ...names) => (n > 0 ? count(n, ...names) : null);
  const together = (...parts) => parts.filter(Boolean).join(", ");
  const known = together(
    some(goes.persons, "person"),
    some(goes.faces, "face"),
    some(goes.voices, "voice"),
    some(goes.objects, "thing"),
    some(goes.places, "place"),
  );
  return [
    known && `${known}, with ${count(goes.samples, "sample")} of faces and voices`,
    !known && some(goes.samples, "sample of faces and voices", "samples of faces and voices"),
    goes.tracks > 0 && `${count(goes.tracks, "appearance")} in view, ${duration(goes.seen_secs)} in all`,
    goes.turns > 0 && `${count(goes.turns, "utterance")} with words and sound, ${duration(goes.spoken_secs)} in all`,
    goes.wordless > 0 && `the words and the sound of ${count(goes.wordless, "utterance")}`,
    together(
      some(goes.body_tracks, "body followed in view", "bodies followed in view"),
      some(goes.object_tracks, "thing followed in view", "things followed in view"),
      some(goes.text_tracks, "text read in view", "texts read in view"),
      some(goes.sounds, "sound"),
    ),
    goes.memories > 0 && `${count(goes.memories, "remembered sentence")}, ${count(goes.facts, "fact")} among them`,
    goes.rewritten > 0 && `a name or a part of ${count(goes.rewritten, "sentence")} that ${goes.rewritten === 1 ? "stays" : "stay"}`,
    together(some(goes.documents, "document"), some(goes.passages, "passage")),
    together(some(goes.watches, "watch", "watches"), some(goes.firings, "time that one fired", "times that one fired")),
    some(goes.answers, "answer that was given", "answers that were given"),
    goes.files > 0 && `${count(goes.files, "picture or sound", "pictures and sounds")} of ${count(goes.clips, "clip")}, ${size(goes.media_bytes)}`,
    goes.ring_secs > 0 && `${duration(goes.ring_secs)} of the last minutes`,
    goes.snapshots > 0 && `parts of ${count(goes.snapshots, "snapshot")}, or all`,
    some(goes.waiting_clips, "clip that waits for a language model", "clips that wait for a language model"),
  ].filter(Boolean);
}
