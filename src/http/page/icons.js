// The page's pictograms, 24 by 24, drawn with strokes.

import { svg } from "./dom.js";

const PATHS = {
  ask: "M4 5h16v11H9l-5 4z",
  now: "M12 12m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0M2 12s3.5-7 10-7 10 7 10 7-3.5 7-10 7S2 12 2 12z",
  day: "M4 6h16v14H4zM4 10h16M8 3v4M16 3v4",
  people:
    "M9 11a3.5 3.5 0 1 0 0-7a3.5 3.5 0 0 0 0 7zM3 20c0-4 2.5-6 6-6s6 2 6 6M16 4.5a3 3 0 0 1 0 6M17.5 14.2c2.3.6 3.5 2.5 3.5 5.8",
  things: "M12 21s-7-6.2-7-11a7 7 0 0 1 14 0c0 4.8-7 11-7 11zM12 12.500a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5z",
  watches: "M12 3v2M6 17V11a6 6 0 0 1 12 0v6l2 2H4zM10 21h4",
  memory: "M11 18a7 7 0 1 0 0-14a7 7 0 0 0 0 14zM16 16l5 5",
  graph:
    "M6 8a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5zM18 11a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5zM9 21a2.5 2.5 0 1 0 0-5a2.5 2.5 0 0 0 0 5zM8.4 6.300l7.2 1.600M6.5 8l2 8M16.2 10.400l-5.6 6.2",
  replay: "M4 12a8 8 0 1 0 2.5-5.800M4 4v4h4M10 9l5 3-5 3z",
  system: "M4 5h16v6H4zM4 13h16v6H4zM8 8h.01M8 16h.01",
  play: "M8 5l11 7-11 7z",
  stop: "M7 6h3v12H7zM14 6h3v12h-3z",
  left: "M15 5l-7 7 7 7",
  right: "M9 5l7 7-7 7",
  close: "M6 6l12 12M18 6L6 18",
  edit: "M4 20l1-4L16 5l3 3L8 19z",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  cloud: "M7 18a4 4 0 0 1 0-8a5 5 0 0 1 9.6-1A4.5 4.5 0 0 1 17 18z",
  theme:
    "M12 17a5 5 0 1 0 0-10a5 5 0 0 0 0 10zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.400M17.6 17.600L19 19M19 5l-1.4 1.400M6.4 17.600L5 19",
  mic: "M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3zM6 12a6 6 0 0 0 12 0M12 18v3",
  note: "M6 3h9l4 4v14H6zM9 11h6M9 15h6",
  up: "M5 13l4 4L19 7",
  down: "M6 6l12 12M18 6L6 18",
  voice: "M4 10v4M8 7v10M12 4v16M16 8v8M20 11v2",
};

/** A pictogram; decorative, so its button or link needs words. */
export function icon(name) {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] }),
  );
}

/** The page's own sign. */
export function emblem() {
  return svg(
    "svg",
    { class: "emblem", viewBox: "0 0 32 32", "aria-hidden": "true", focusable: "false" },
    svg("rect", { width: 32, height: 32, rx: 9 }),
    svg("circle", { cx: 16, cy: 16, r: 8.5, class: "ring" }),
    svg("circle", { cx: 16, cy: 16, r: 3, class: "pupil" }),
  );
}
