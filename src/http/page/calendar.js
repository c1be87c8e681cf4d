// The day's neighbours and a month with a dot for every day that is remembered.

import { h } from "./dom.js";
import { href } from "./route.js";
import { icon } from "./icons.js";
import { sql } from "./api.js";
import { dayKey, iso } from "./words.js";

const HALF_HOUR_MS = 1_800_000;
const DAY_MS = 86_400_000;
const MONTHS = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

/** Buttons to the day before and after that hold something, and the month of `day` (`2026-05-08`). */
export async function calendar(day, signal) {
  const [before, after, dots] = await Promise.all([
    neighbour(day, "<", signal),
    neighbour(day, ">", signal),
    daysOf(day.slice(0, 7), signal),
  ]);
  const step = (to, words, shape) =>
    to
      ? h("a", { class: "button iconOnly", href: href("day", { day: to }), "aria-label": `${words}, ${to}` }, icon(shape))
      : h("span", { class: "button iconOnly off", "aria-hidden": "true" }, icon(shape));
  return h(
    "div",
    { class: "row calendarBar" },
    step(before, "Day before", "left"),
    h("details", { class: "calendar" }, h("summary", { class: "button" }, icon("day"), "Calendar"), month(day, dots)),
    step(after, "Day after", "right"),
  );
}

/** The nearest other day with a clip, or null. Around a border of days a clip of the day itself may be found: it is none. */
async function neighbour(day, side, signal) {
  const noon = Date.parse(`${day}T12:00:00Z`);
  const [order, edge] = side === "<" ? ["DESC", noon + 0.6 * DAY_MS] : ["ASC", noon - 0.6 * DAY_MS];
  const rows = await sql(
    `SELECT DISTINCT start / 1800000000000 AS half FROM clips WHERE start ${side} ${edge}000000 ORDER BY half ${order} LIMIT 80`,
    {},
    signal,
  );
  const days = rows.map((row) => dayKey(iso(row.half * HALF_HOUR_MS)));
  return days.find((one) => (side === "<" ? one < day : one > day)) ?? null;
}

/** Days of a month (`2026-05`) that hold clips. A clip's half hour lies in one day in every zone there is. */
async function daysOf(monthKey, signal) {
  const start = Date.parse(`${monthKey}-01T00:00:00Z`) - DAY_MS;
  const rows = await sql(
    `SELECT DISTINCT start / 1800000000000 AS half FROM clips WHERE start BETWEEN ${start}000000 AND ${start + 34 * DAY_MS}000000`,
    { limit: 2000 },
    signal,
  );
  return new Set(rows.map((row) => dayKey(iso(row.half * HALF_HOUR_MS))));
}

function month(day, dots) {
  const key = day.slice(0, 7);
  const [year, number] = key.split("-").map(Number);
  const days = new Date(Date.UTC(year, number, 0)).getUTCDate();
  const lead = (new Date(Date.UTC(year, number - 1, 1)).getUTCDay() + 6) % 7;
  const shifted = (by) => new Date(Date.UTC(year, number - 1 + by, 1)).toISOString().slice(0, 10);
  const cells = Array.from({ length: days }, (_, at) => {
    const date = `${key}-${String(at + 1).padStart(2, "0")}`;
    if (!dots.has(date)) return h("span", { class: "dayCell none" }, at + 1);
    return h(
      "a",
      {
        class: "dayCell",
        href: href("day", { day: date }),
        "aria-current": date === day ? "date" : null,
        "aria-label": `${date}, remembered`,
      },
      at + 1,
    );
  });
  return h(
    "div",
    { class: "month" },
    h(
      "div",
      { class: "row spread" },
      h(
        "a",
        { class: "iconOnly button small", href: href("day", { day: shifted(-1) }), "aria-label": "Month before" },
        icon("left"),
      ),
      h("strong", null, MONTHS.format(Date.UTC(year, number - 1, 1))),
      h(
        "a",
        { class: "iconOnly button small", href: href("day", { day: shifted(1) }), "aria-label": "Month after" },
        icon("right"),
      ),
    ),
    h(
      "div",
      { class: "monthGrid" },
      ["M", "T", "W", "T", "F", "S", "S"].map((one) => h("span", { class: "soft small", "aria-hidden": "true" }, one)),
      Array.from({ length: lead }, () => h("span")),
      cells,
    ),
  );
}
