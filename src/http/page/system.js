// System: how the robot is: sources, queues, times, models with their licences, and what was erased.

import { h, all } from "./dom.js";
import * as api from "./api.js";
import { hear } from "./events.js";
import { empty, head, table, terms, trouble } from "./parts.js";
import { duration, iso, millis, number, when } from "./words.js";

export const title = "System";

export async function show(params, signal) {
  const [status, stats, about, audit] = await Promise.all([
    api.status(signal),
    api.stats(signal).catch(() => null),
    api.describe(signal),
    api.sql("SELECT id, at / 1000000 AS at, action, rows, files FROM audit ORDER BY id DESC LIMIT 100", {}, signal),
  ]);
  const state = h("div");
  const figures = h("div");
  const writeState = (now) => state.replaceChildren(health(now));
  const writeFigures = (now) =>
    figures.replaceChildren(now ? numbers(now) : h("p", { class: "soft" }, "The first statistics come within ten seconds."));
  writeState(status);
  writeFigures(stats);
  hear("status", writeState, signal);
  hear("stats", writeFigures, signal);
  return all(
    head(
      "System",
      `engram ${about.version} on ${about.robot}`,
      h("a", { class: "button small", href: "/metrics", target: "_blank", rel: "noopener" }, "Metrics"),
      h("a", { class: "button small", href: "/openapi.json", target: "_blank", rel: "noopener" }, "OpenAPI"),
    ),
    state,
    figures,
    h(
      "section",
      { class: "card" },
      h("h2", null, "Models"),
      models(about.abilities),
      terms([
        ["Languages", about.languages.join(", ")],
        ["Things are known from", about.objects_from.join(", ")],
        ["Time zone", about.timezone],
        ["History can be asked from", about.history_from ? when(about.history_from) : "the first commit"],
      ]),
    ),
    h("section", { class: "card" }, h("h2", null, "Erased"), audits(audit)),
  );
}

function health(status) {
  const words = { online: "The daemon is online", stopped: "The daemon was stopped", offline: "The daemon is away" }[
    status.state
  ];
  return h(
    "section",
    { class: "card" },
    h("h2", null, words),
    status.degraded.length
      ? h("ul", { class: "troubles" }, status.degraded.map(trouble))
      : h("p", { class: "soft" }, "Nothing is impaired."),
    terms([
      ["Session", status.session ?? "none is open"],
      ["Version", status.version],
    ]),
  );
}

const COUNT_WORDS = { frames_dropped: "Frames lost", messages_dropped: "Messages lost" };
const countWord = (key) => COUNT_WORDS[key] ?? key[0].toUpperCase() + key.slice(1).replaceAll("_", " ");

function numbers(stats) {
  const sources = Object.entries(stats.sources);
  const latencies = Object.entries(stats.latency_ms);
  return all(
    h(
      "section",
      { class: "card" },
      h("h2", null, "Sources"),
      sources.length
        ? table(
            "Cameras and microphones",
            ["Source", "State", "Per second", "Wanted", "Captured", "Lost", "Looks left out", "Lag", "Restarts"],
            sources.map(([name, one]) => [
              name,
              one.state ?? "recording",
              one.per_sec.toFixed(1),
              one.wanted_per_sec === null ? "–" : one.wanted_per_sec.toFixed(1),
              number(one.captured),
              number(one.dropped),
              number(one.looks_left_out ?? 0),
              duration(one.lag_secs),
              number(one.restarts ?? 0),
            ]),
          )
        : empty("No source is open"),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", null, "Figures"),
      h(
        "ul",
        { class: "figures" },
        Object.entries(stats.counts).map(([key, value]) =>
          h("li", null, h("strong", null, number(value)), h("span", { class: "soft small" }, countWord(key))),
        ),
      ),
      terms([
        ["Up for", duration(stats.uptime_secs)],
        ["Behind", duration(stats.behind_secs)],
        [
          "Waiting",
          Object.entries(stats.queues)
            .filter(([, n]) => n > 0)
            .map(([key, n]) => `${key}: ${n}`)
            .join(", ") || "nothing",
        ],
        ["As of", when(iso(Date.parse(stats.at)))],
      ]),
    ),
    latencies.length
      ? h(
          "section",
          { class: "card" },
          h("h2", null, "How long things take"),
          table(
            "Latencies",
            ["What", "Half within", "95 % within", "99 % within", "Times"],
            latencies.map(([what, one]) => [
              countWord(what),
              millis(one.p50),
              millis(one.p95),
              millis(one.p99),
              number(one.count),
            ]),
          ),
        )
      : null,
  );
}

function models(abilities) {
  return table(
    "Models",
    ["Job", "Model", "Licence", "Hash", "Runs"],
    abilities.map((one) => [
      one.job.replaceAll("_", " "),
      one.model ?? h("span", { class: "soft" }, "off or missing"),
      one.licence ?? "–",
      one.sha256 ? h("code", { title: one.sha256 }, one.sha256.slice(0, 10)) : "–",
      one.model ? (one.sha256 ? "on this machine" : "by a server or a file of yours") : "–",
    ]),
  );
}

function audits(audit) {
  if (!audit.length) return h("p", { class: "soft" }, "Nothing was erased yet.");
  return table(
    "What was erased, when",
    ["When", "What was done", "Rows", "Files"],
    audit.map((one) => [when(iso(one.at)), one.action, number(one.rows), number(one.files)]),
  );
}
