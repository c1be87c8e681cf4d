// Who was there on a day from when to when, what they said and what they did.

import { h } from "./dom.js";
import { changed, href } from "./route.js";
import { query } from "./api.js";
import { table } from "./parts.js";
import { clockShort, duration, ms } from "./words.js";
import { nameOf } from "./who.js";

const sentence = (text, none) => h("span", { class: text ? "sentence" : "soft" }, text ?? none);

/** The visits that touch a stretch, as a table; null where there were none. */
export async function visits({ start, end }, signal) {
  const found = await query("visits", { start, end, limit: 500 }, signal);
  if (!found.visits.length) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Visits" },
    h("h2", null, "Visits"),
    table(
      "Who was there, what they said and did",
      ["Who", "When", "Said", "Did"],
      found.visits.map((one) => [
        h("a", { href: href("people", { who: one.person }) }, nameOf(one.person, one.name)),
        h(
          "a",
          { href: changed({ clip: one.clip, at: null }) },
          `${clockShort(one.start)} – ${clockShort(one.end)}, ${duration((ms(one.end) - ms(one.start)) / 1000)}`,
        ),
        sentence(one.said, "nothing"),
        sentence(one.did, one.over ? "was there" : "is here"),
      ]),
    ),
  );
}
