// "This is not Ava": takes a face or a voice away from a person.

import { h } from "./dom.js";
import { command, may } from "./api.js";
import { carryOut, dialog, memoryChanged } from "./parts.js";
import { idWord } from "./words.js";
import { nameOf } from "./who.js";

/** A button for a face or voice (`part`) of a person; null where the role does not allow it. */
export function notThem(part, person, name) {
  if (!may("operate")) return null;
  const who = nameOf(person, name);
  return h("button", { type: "button", class: "small quiet", onclick: () => confirmSplit(part, who) }, `Not ${who}`);
}

function confirmSplit(part, who) {
  const kind = part.startsWith("voice") ? "voice" : "face";
  const yes = h("button", { type: "button", class: "primary" }, `This is not ${who}`);
  const box = dialog({
    title: `Not ${who}?`,
    body: [
      h(
        "p",
        null,
        `${idWord(part)} becomes somebody else, with everything that was taken for the same ${kind}: all its sightings, not this one alone.`,
      ),
      h("p", { class: "soft" }, "It sticks: no later evidence takes it back. You can merge the two again."),
    ],
    actions: [h("button", { type: "button", onclick: () => box.close() }, "Leave it"), yes],
  });
  yes.addEventListener("click", async () => {
    const reply = await carryOut(
      yes,
      () => command("people", { split: [part] }),
      (done) => `${idWord(part)} is now ${(done.persons ?? []).map(idWord).join(", ")}.`,
    );
    if (!reply) return;
    box.close();
    memoryChanged();
  });
}
