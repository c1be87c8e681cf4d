// What the daemon tells by itself, over one EventSource that comes back when the daemon does.

import { status as fetchStatus } from "./api.js";

/** Statistics come every 10 s: a line that is silent for longer is dead, whatever the browser believes. */
const SILENT_MS = 40_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

const listeners = new Map();
let source = null;
let pause = FIRST_PAUSE_MS;
let timer = 0;
let watchdog = 0;
let boot = null;
let connected = false;

/** Calls `hear(data)` for every event of `topic` until `signal` ends. `line`: the connection came or went;
 * `back`: the daemon is there again, another one maybe, so what was shown may be old. */
export function hear(topic, callback, signal) {
  const known = listeners.get(topic) ?? new Set();
  known.add(callback);
  if (!listeners.has(topic)) {
    listeners.set(topic, known);
    source?.addEventListener(topic, received);
  }
  signal?.addEventListener("abort", () => {
    known.delete(callback);
    if (known.size > 0) return;
    listeners.delete(topic);
    source?.removeEventListener(topic, received);
  });
}

function tell(topic, data) {
  for (const callback of [...(listeners.get(topic) ?? [])]) callback(data);
}

function received(event) {
  watch();
  let data;
  try {
    data = JSON.parse(event.data);
  } catch {
    return;
  }
  // Some of what happened meanwhile is not kept any more: what is shown may be old.
  if (event.type === "missed") tell("back", { another: false });
  else tell(event.type, data);
}

function watch() {
  clearTimeout(watchdog);
  watchdog = setTimeout(lost, SILENT_MS);
}

/** Opens the line, and opens it again for as long as the page is there. */
export function listen() {
  clearTimeout(timer);
  source?.close();
  source = new EventSource("/api/events");
  for (const topic of [...listeners.keys(), "missed"]) source.addEventListener(topic, received);
  source.onopen = opened;
  source.onerror = lost;
  watch();
}

async function opened() {
  pause = FIRST_PAUSE_MS;
  const wasAway = !connected;
  const asked = source;
  let state = null;
  try {
    state = await fetchStatus();
  } catch (error) {
    // Who may only ask is not told how the robot is.
    if (error.status !== 403) return lost();
  }
  if (source !== asked) return;
  connected = true;
  if (state) tell("status", state);
  tell("line", true);
  const another = boot !== null && state !== null && boot !== state.boot_id;
  if ((wasAway && boot !== null) || another) tell("back", { another });
  boot = state?.boot_id ?? boot;
}

/** An EventSource gives up at the first answer that is no stream, so it is opened anew by hand; what happened meanwhile is
 * fetched, not resumed. Whose login has ended is asked to sign in instead. */
async function lost() {
  source?.close();
  clearTimeout(watchdog);
  clearTimeout(timer);
  connected = false;
  try {
    await fetchStatus();
  } catch (error) {
    if (error.status === 401) return;
    if (error.status !== 403) tell("line", false);
  }
  clearTimeout(timer);
  timer = setTimeout(listen, pause);
  pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
}
