// How times, durations, kinds and shares are written.

let zone = "UTC";

/** All times are the robot's, whatever the browser's zone is. */
export function useTimezone(name) {
  try {
    new Intl.DateTimeFormat("en-GB", { timeZone: name });
    zone = name;
  } catch {
    zone = "UTC";
  }
}

export const timezone = () => zone;

/** Milliseconds since 1970 of a time of the memory; browsers need not read nine decimals. */
export function ms(time) {
  if (typeof time === "number") return time;
  return Date.parse(time.replace(/(\.\d{3})\d*Z$/, "$1Z"));
}

let newest = 0;

/** Notes how far the memory reaches, milliseconds; whether that is farther than before. */
export function reachedTo(at) {
  if (at <= newest) return false;
  newest = at;
  return true;
}

/** The newest moment that is remembered, milliseconds: in a recording long ago. */
export const memoryNow = () => newest;

/** A time as the memory reads it. */
export const iso = (at) => new Date(at).toISOString();

function form(options) {
  const made = new Map();
  return (time) => {
    if (!made.has(zone)) made.set(zone, new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options }));
    return made.get(zone).format(ms(time));
  };
}

export const clock = form({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const clockShort = form({ hour: "2-digit", minute: "2-digit" });
export const dayLong = form({ weekday: "long", day: "numeric", month: "long", year: "numeric" });
const dayShort = form({ day: "numeric", month: "short", year: "numeric" });
const parts = form({ year: "numeric", month: "2-digit", day: "2-digit" });

/** The date as `2026-05-08`. */
export function dayKey(time) {
  const [day, month, year] = parts(time).split("/");
  return `${year}-${month}-${day}`;
}

/** Day and time: `8 May 2026, 18:30:24`. */
export const when = (time) => `${dayShort(time)}, ${clock(time)}`;

/** From–to, the day once. */
export function span(start, end) {
  if (dayKey(start) !== dayKey(end)) return `${when(start)} – ${when(end)}`;
  if (clock(start) === clock(end)) return when(start);
  return `${dayShort(start)}, ${clock(start)} – ${clock(end)}`;
}

/** `26 s`, `4 min`, `2.5 h`, `3 days`. */
export function duration(secs) {
  if (secs < 90) return `${secs < 10 && secs % 1 ? secs.toFixed(1) : Math.round(secs)} s`;
  if (secs < 5400) return `${Math.round(secs / 60)} min`;
  if (secs < 48 * 3600) return `${(secs / 3600).toFixed(1)} h`;
  return `${Math.round(secs / 86_400)} days`;
}

export const percent = (share) => `${Math.round(share * 100)} %`;
export const millis = (value) =>
  value < 10 ? `${value.toFixed(1)} ms` : value < 1000 ? `${Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
export const number = (value) => new Intl.NumberFormat("en-GB").format(value);
export const count = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** `340 B`, `12 kB`, `1.4 MB`. */
export const size = (bytes) =>
  bytes < 1000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;

const KINDS = {
  utterance: "Said",
  episodic: "Seen",
  semantic: "Fact",
  reflection: "Concluded",
  summary: "Summary",
  lesson: "Lesson",
  note: "Note",
};
export const KIND_NAMES = Object.keys(KINDS);
export const kindWord = (kind) => KINDS[kind] ?? kind;

/** A sentence of the memory, whose unnamed persons stand there by their ids. */
export const readable = (text) => text.replace(/\b(?:person|face|voice|object|place)_\d+\b/g, idWord);

/** An id as a person reads it: `person_4` → `Person 4`. */
export function idWord(id) {
  if (id === "self") return "The robot";
  const [kind, digits] = id.split("_");
  return digits ? `${kind[0].toUpperCase()}${kind.slice(1)} ${digits}` : id;
}
