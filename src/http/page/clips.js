// Clips with their pictures, turns and sounds: fetched once each, since a sealed clip changes only when somebody is named.

import { query } from "./api.js";
import { ms } from "./words.js";

/** So many are kept. */
const KEPT = 60;
const known = new Map();

addEventListener("engram:changed", () => known.clear());

/** `show` of a clip. */
export function clip(id) {
  if (!known.has(id)) {
    const fetched = query("show", { what: id });
    fetched.catch(() => known.delete(id));
    known.set(id, fetched);
    if (known.size > KEPT) known.delete(known.keys().next().value);
  }
  return known.get(id);
}

/** Clips by id; one that is gone is null. */
export async function clips(ids) {
  const unique = [...new Set(ids.filter(Boolean))];
  const shown = await Promise.all(unique.map((id) => clip(id).catch(() => null)));
  return new Map(unique.map((id, at) => [id, shown[at]]));
}

/** The key frame nearest to a time: `{camera, at, digest}`, or null. */
export function nearestFrame(shown, time) {
  const frames = (shown?.clip.key_frames ?? []).map(([camera, at, digest]) => ({ camera, at: ms(at), digest }));
  const wanted = ms(time);
  return frames.reduce((best, one) => (best && Math.abs(best.at - wanted) <= Math.abs(one.at - wanted) ? best : one), null);
}

/** The turn whose words an utterance repeats: the same span. */
export function turnOf(shown, memory) {
  return shown?.turns.find((turn) => turn.start === memory.start && turn.end === memory.end) ?? null;
}
