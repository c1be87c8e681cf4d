// Merging: several persons become one.

import { h } from "./dom.js";
import { note } from "./route.js";
import { command } from "./api.js";
import { carryOut, dialog, memoryChanged } from "./parts.js";
import { face, nameOf } from "./who.js";

/** Asks once more, tells what stays, and merges. */
export function askToMerge(ids, people) {
  const names = ids.map((id) => nameOf(id, people.get(id)?.name));
  const yes = h("button", { type: "button", class: "primary" }, "Merge");
  const box = dialog({
    title: `${names.slice(0, -1).join(", ")} and ${names.at(-1)} are one person?`,
    body: [
      h(
        "div",
        { class: "row" },
        ids.map((id) => face(id, people.get(id), "middle")),
      ),
      h(
        "p",
        null,
        "All that was seen and heard of them becomes one person’s. It sticks, and can be taken apart again on the person’s page.",
      ),
    ],
    actions: [h("button", { type: "button", onclick: () => box.close() }, "Leave them"), yes],
  });
  yes.addEventListener("click", async () => {
    const reply = await carryOut(yes, () => command("people", { merge: ids }), "They are one person now.");
    if (!reply) return;
    box.close();
    note({ pick: null });
    memoryChanged();
  });
}
