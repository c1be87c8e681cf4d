// Forgetting in two steps: what goes is counted and shown first, then erased for good.

import { h } from "./dom.js";
import { command, quoted, sql } from "./api.js";
import { carryOut, dialog, failure, loading, memoryChanged } from "./parts.js";
import { count, duration } from "./words.js";

/** Asks, shows what goes, and erases. `target`: the payload of `forget`; `tally`: gives lines of what goes; `after`: where to go then. */
export function askToForget({ title, target, tally, word, after = memoryChanged }) {
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
  const count_ = async () => {
    try {
      const lines = await tally();
      body.replaceChildren(
        h("p", null, "This goes, at every point in time:"),
        h(
          "ul",
          { class: "tally" },
          lines.map((line) => h("li", null, line)),
        ),
        h(
          "p",
          { class: "soft" },
          "In sentences about others, the name becomes “<erased>”. Nothing brings it back, no backup is kept; that something was erased stays in the audit, not what.",
        ),
        h("label", { class: "check", for: "sure" }, sure, ` Yes, erase ${word}`),
      );
    } catch (error) {
      body.replaceChildren(failure(error, count_));
    }
  };
  count_();
}

/** What goes with a person. */
export async function personTally(person) {
  const id = quoted(person.id);
  const names = [person.id, ...person.aliases].map(quoted).join(",");
  const [heard, seen, told, stated] = await Promise.all([
    sql(`SELECT count(*) AS n FROM utterances WHERE person = ${id}`),
    sql(`SELECT count(DISTINCT substr(clip, 1, instr(clip, '/')) || track) AS n FROM sightings WHERE person = ${id} AND kind = 'face'`),
    sql(`SELECT count(*) AS n FROM memories WHERE EXISTS (SELECT 1 FROM json_each(entities) WHERE value IN (${names}))`),
    sql(`SELECT count(*) AS n FROM facts WHERE subject IN (${names})`),
  ]);
  return [
    `${count(person.faces.length, "face")} and ${count(person.voices.length, "voice")} with their pictures, sounds and vectors`,
    `${count(seen[0].n, "appearance")} in view, ${duration(person.seen_secs)} in all`,
    `${count(heard[0].n, "utterance")} with words and sound, ${duration(person.spoken_secs)} in all`,
    `${count(told[0].n, "remembered sentence")} about them, ${count(stated[0].n, "fact")}: theirs are erased, others lose the name`,
  ];
}

/** What goes with one memory. */
export async function memoryTally(shown) {
  const lines = [`the sentence “${shown.text}”`];
  if (shown.memory.kind === "utterance") lines.push("the words and the sound of that turn");
  if (shown.memory.fact) lines.push("the fact that it states");
  lines.push("what summaries repeat of it");
  return lines;
}

/** What goes with a thing that facts tell of. */
export async function thingTally(word) {
  const rows = await sql(`SELECT count(*) AS n FROM facts WHERE subject = ${quoted(word)}`);
  return [
    `${count(rows[0].n, "fact")} about “${word}”, now and earlier`,
    "notes that tell of it, and the word for it wherever it stands",
  ];
}
