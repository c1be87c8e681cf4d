// Starts the page: who is signed in, the line of events, the bar at the top, and the area that the address names.

import { h, all, spoken } from "./dom.js";
import { emblem, icon } from "./icons.js";
import * as api from "./api.js";
import { hear, listen } from "./events.js";
import { areaPart, changed, go, here } from "./route.js";
import { failure, loading, stop } from "./parts.js";
import { peopleChanged } from "./who.js";
import { clock, dayKey, iso, ms, reachedTo, useTimezone, when } from "./words.js";
import { openClip } from "./clip.js";
import { openMemory } from "./memory_detail.js";
import { askToSignIn } from "./login.js";
import * as ask from "./ask.js";
import * as now from "./now.js";
import * as day from "./day.js";
import * as people from "./people.js";
import * as things from "./things.js";
import * as watches from "./watches.js";
import * as memory from "./memory.js";
import * as graph from "./graph.js";
import * as replay from "./replay.js";
import * as system from "./system.js";

const AREAS = { ask, now, day, people, things, watches, memory, graph, replay, system };
const main = document.getElementById("main");
const banner = document.getElementById("banner");

let shown = null;
let leaving = new AbortController();
let overlay = null;

// ---------------------------------------------------------------- the area

/** Draws what the address names: the area where it changed, and what lies over it. */
async function draw(again = false) {
  const { area: named, params } = here();
  const area = AREAS[named] ? named : api.may("ask") ? "ask" : "now";
  const room = AREAS[area];
  mark(area);
  const wanted = areaPart();
  if (again || wanted !== shown?.wanted) await drawArea(room, area, params, wanted, again);
  drawOverlay(params);
}

async function drawArea(room, area, params, wanted, again) {
  const sameArea = shown?.area === area;
  const kept = document.activeElement?.id;
  leaving.abort();
  leaving = new AbortController();
  const { signal } = leaving;
  shown = { wanted, area };
  document.title = `${room.title} · engram`;
  if (!sameArea) {
    stop();
    main.replaceChildren(loading());
    scrollTo(0, 0);
  }
  let content;
  try {
    content = await room.show(params, signal);
  } catch (error) {
    // Whose login has ended sees the form already.
    if (signal.aborted || error.status === 401) return;
    content = failure(error, () => draw(true));
  }
  if (signal.aborted) return;
  main.replaceChildren(h("div", { class: `area in-${area}` }, content));
  main.dataset.area = area;
  if (sameArea && kept) document.getElementById(kept)?.focus({ preventScroll: true });
  else if (!again && document.activeElement === document.body && navigated) main.focus({ preventScroll: true });
}

function drawOverlay(params) {
  const clip = params.get("clip");
  const memoryId = params.get("memory");
  const key = clip ? `clip ${clip} ${params.get("at")}` : memoryId ? `memory ${memoryId}` : null;
  if (overlay?.key === key) return;
  const before = overlay;
  overlay = null;
  before?.box.close();
  if (!key) return;
  const closed = () => {
    if (overlay?.key !== key) return;
    overlay = null;
    go(changed({ clip: null, at: null, memory: null }));
  };
  overlay = { key, box: clip ? openClip(clip, params.get("at"), closed) : openMemory(memoryId, closed) };
}

let navigated = false;
addEventListener("hashchange", () => {
  navigated = true;
  draw();
});

/** Something was changed: everything that was fetched is fetched again. */
addEventListener("engram:changed", () => {
  peopleChanged();
  draw(true);
});

// ---------------------------------------------------------------- the frame

const nav = document.getElementById("areas");
for (const [name, room] of Object.entries(AREAS)) {
  nav.append(h("a", { href: `#/${name}`, id: `area-${name}` }, icon(name), h("span", null, room.short ?? room.title)));
}

function mark(area) {
  for (const link of nav.children) {
    const on = link.id === `area-${area}`;
    if (on) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
    if (on && nav.scrollWidth > nav.clientWidth) link.scrollIntoView({ block: "nearest", inline: "center" });
  }
}

const robot = h("span", { class: "robot" }, "engram");
const state = h("a", { class: "pill", href: "#/system", id: "state" }, "…");
const memoryClock = h("span", { class: "clock", title: "How far the memory reaches" });
const local = h("span", { class: "local", id: "local" });
const user = h("span", { class: "user" });

function frame() {
  const theme = h(
    "button",
    {
      type: "button",
      class: "plain iconOnly",
      id: "theme",
      "aria-label": "Light or dark",
      title: "Light or dark",
      onclick: switchTheme,
    },
    icon("theme"),
  );
  const brand = h("a", { class: "brand", href: "#/ask" }, emblem(), robot);
  document.getElementById("top").replaceChildren(brand, state, memoryClock, h("span", { class: "grow" }), local, user, theme);
}

function switchTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try {
    localStorage.setItem("engram.theme", root.dataset.theme);
  } catch {
    // Chosen for this visit alone.
  }
}

function showUser() {
  const me = api.whoami();
  if (!me.login) return user.replaceChildren();
  const out = h("button", { type: "button", class: "plain small", onclick: signOut }, "Sign out");
  user.replaceChildren(me.user ? all(h("span", { class: "soft" }, me.user), out) : "");
}

async function signOut() {
  await api.logout().catch(() => {});
  location.reload();
}

function showStatus(status) {
  const degraded = status.degraded.length;
  const words = status.state !== "online" ? status.state : degraded ? "impaired" : "online";
  state.className = `pill ${words}`;
  state.replaceChildren(h("span", { class: "dot" }), words, degraded ? spoken(`: ${status.degraded.join("; ")}`) : "");
  state.title = degraded ? status.degraded.join("\n") : "How the robot is";
}

/** How far the memory reaches: in a replay the recording's time, live the clock's. */
function reaches(time) {
  const at = ms(time);
  if (!reachedTo(at)) return;
  const today = dayKey(iso(at)) === dayKey(iso(Date.now()));
  memoryClock.replaceChildren(spoken("The memory reaches to "), today ? clock(time) : when(time));
}

function showPlace(abilities) {
  const servers = abilities.filter(
    (one) => one.model && !one.sha256 && ["chat_model", "memorizer", "text_embedder", "transcriber"].includes(one.job),
  );
  local.title = servers.length
    ? `Asked for help: ${servers.map((one) => `${one.job.replaceAll("_", " ")} (${one.model})`).join(", ")}`
    : "Every model runs on this machine.";
  local.replaceChildren(
    icon(servers.length ? "cloud" : "lock"),
    h("span", null, servers.length ? "Uses a model server" : "Nothing leaves this machine"),
  );
}

function line(up) {
  banner.hidden = up;
  banner.textContent = up ? "" : "The daemon is away. This page comes back by itself when it does.";
  if (!up) {
    state.className = "pill offline";
    state.replaceChildren(h("span", { class: "dot" }), "away");
  }
}

// ---------------------------------------------------------------- the start

async function describeRobot() {
  const [about, newest] = await Promise.all([
    api.describe(),
    api.sql('SELECT max("end") / 1000000 AS at FROM clips').catch(() => []),
  ]);
  useTimezone(about.timezone);
  robot.textContent = about.robot;
  showPlace(about.abilities);
  if (newest[0]?.at) reaches(newest[0].at);
}

async function begin() {
  hear("line", line);
  hear("status", showStatus);
  hear("event/memory", (memory) => reaches(memory.end));
  hear("event/person", (event) => {
    if (["named", "merged", "new"].includes(event.event)) peopleChanged();
  });
  hear("back", async () => {
    peopleChanged();
    await describeRobot().catch(() => {});
    draw(true);
  });
  showUser();
  // Who may ask may see what is watched for.
  const open = ["area-ask", "area-watches"];
  for (const link of nav.children) link.hidden = !open.includes(link.id) && !api.may("look");
  listen();
  await describeRobot().catch(() => {});
  await draw();
}

async function enter() {
  frame();
  let me;
  try {
    me = await api.loadMe();
  } catch (error) {
    line(false);
    main.replaceChildren(failure(error, () => location.reload()));
    setTimeout(enter, 2000);
    return;
  }
  line(true);
  if (me.login && !me.user && me.roles.length === 0) return askToSignIn(main, () => location.reload());
  await begin();
}

api.whenSignedOut(() => {
  if (api.whoami().login) askToSignIn(main, () => location.reload());
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
enter();
