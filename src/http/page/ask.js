// Ask: a question, the answer with its evidence, and what follows from it in one conversation.

import { h, all } from "./dom.js";
import { go, href } from "./route.js";
import { icon } from "./icons.js";
import * as api from "./api.js";
import { hear } from "./events.js";
import { carryOut, dialog, empty, failure, meter } from "./parts.js";
import { evidenceCards } from "./evidence.js";
import { everybody, personLink } from "./who.js";
import { count, millis, percent } from "./words.js";

export const title = "Ask";

/** Answers of this visit, by conversation and question: going back asks nothing twice. */
const answered = new Map();
/** Questions of a conversation in the order in which they were asked. */
const threads = new Map();

export async function show(params, signal) {
  const question = params.get("q");
  const deep = params.has("deep");
  const conversation = params.get("c");
  const [people, robot] = await Promise.all([everybody().catch(() => new Map()), api.describe(signal).catch(() => null)]);
  const thinks = robot?.abilities.some((one) => one.job === "chat_model" && one.model) ?? false;
  const thread = threads.get(conversation) ?? [];
  const room = h("div", { class: "answers", "aria-live": "polite" });
  if (question) answerInto(room, { question, conversation, deep, people, signal });
  else room.append(await suggestions(people, signal));
  const earlier = thread.filter((one) => one !== question);
  return all(
    h("h1", { class: "spoken" }, "Ask"),
    box(question, conversation, deep, thinks),
    room,
    earlier.length
      ? h(
          "section",
          { class: "earlier" },
          h("h2", null, "Earlier in this conversation"),
          h(
            "ul",
            null,
            earlier
              .toReversed()
              .map((one) =>
                h(
                  "li",
                  null,
                  h("a", { href: href("ask", { q: one, c: conversation }) }, one),
                  h("p", { class: "soft" }, answered.get(key(conversation, one))?.answer ?? ""),
                ),
              ),
          ),
        )
      : null,
  );
}

const key = (conversation, question) => `${conversation}\n${question}`;

/** `thinks`: a language model answers, so that more thought can be asked for. */
function box(question, conversation, deep, thinks) {
  const following = Boolean(question);
  const may = api.may("ask");
  const input = h("input", {
    id: "question",
    type: "search",
    autocomplete: "off",
    maxlength: 2000,
    enterkeyhint: "send",
    disabled: !may,
    placeholder: following ? "Ask on: “And since when?”" : "Where is the red mug?",
  });
  const think = h("input", { type: "checkbox", id: "deep", checked: deep });
  const form = h(
    "form",
    {
      class: "askBox",
      role: "search",
      onsubmit: (event) => {
        event.preventDefault();
        const text = input.value.trim();
        if (text) go(href("ask", { q: text, c: conversation ?? api.requestId(), deep: think.checked && "1" }));
      },
    },
    h("label", { class: "spoken", for: "question" }, "Question"),
    h("div", { class: "askRow" }, icon("ask"), input, h("button", { class: "primary", disabled: !may }, "Ask")),
    h(
      "div",
      { class: "askMore" },
      thinks
        ? h("label", { class: "check", for: "deep", title: "Several rounds of thinking and recall" }, think, " Think longer")
        : h(
            "span",
            null,
            following
              ? "A follow-up may leave out what was named before."
              : "Everything that was seen, heard and told can be asked.",
          ),
      following ? h("a", { class: "small", href: "#/ask" }, "New conversation") : null,
    ),
  );
  if (!may) form.append(h("p", { class: "soft" }, "Your role may look, but not ask."));
  else if (matchMedia("(min-width: 800px)").matches && !following) queueMicrotask(() => input.isConnected && input.focus());
  return form;
}

/** What could be asked, out of what is known. */
async function suggestions(people, signal) {
  if (!api.may("ask") || !api.may("look")) return h("div");
  const things = await api.sql("SELECT object FROM objects ORDER BY since DESC LIMIT 2", {}, signal).catch(() => []);
  const named = [...people.values()].filter((one) => one.name);
  const questions = [
    "Who was here?",
    ...things.map((one) => `Where ${isPlural(one.object) ? "are" : "is"} the ${one.object}?`),
    ...named.slice(0, 2).map((one) => `When did you last see ${one.name}?`),
    ...named.slice(2, 3).map((one) => `What did ${one.name} say?`),
  ];
  if (!people.size)
    return empty("Nothing is remembered yet", "As soon as somebody was seen or heard, or a note was told, it can be asked here.");
  return h(
    "section",
    { class: "suggestions" },
    h("h2", null, "Try"),
    h(
      "ul",
      { class: "chips" },
      questions.map((text) => h("li", null, h("a", { class: "chip", href: href("ask", { q: text, c: api.requestId() }) }, text))),
    ),
    h("h2", null, "Known"),
    h(
      "div",
      { class: "faces" },
      [...people.values()].slice(0, 12).map((person) => personLink(person.id, people)),
    ),
  );
}

const isPlural = (noun) => /[^s]s$/.test(noun);

async function answerInto(room, { question, conversation, deep, people, signal }) {
  const asked = h("h2", { class: "asked" }, question);
  const rounds = h("ol", { class: "rounds" });
  const waiting = h(
    "div",
    { class: "thinking", role: "status" },
    h("span", { class: "dot" }),
    deep ? "Thinking" : "Remembering",
    " …",
  );
  room.replaceChildren(asked, waiting, rounds);
  let answer = answered.get(key(conversation, question));
  if (!answer) {
    const id = api.requestId();
    hear(`answer/${id}/progress`, (round) => rounds.append(h("li", null, roundWords(round))), signal);
    const request = { id, question, conversation };
    if (deep) request.effort = "deep";
    try {
      answer = await api.ask(request, signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      waiting.replaceWith(failure(error, () => answerInto(room, { question, conversation, deep, people, signal })));
      return;
    }
    answered.set(key(conversation, question), answer);
    threads.set(conversation, [...(threads.get(conversation) ?? []).filter((one) => one !== question), question]);
  }
  room.replaceChildren(asked, card(answer), rounds.children.length ? rounds : "", evidence(answer, people));
}

function roundWords(round) {
  const of = round.of ? ` of ${round.of}` : "";
  const query = round.query ? ` “${plain(round.query)}”` : "";
  const found = round.found && round.action !== "answer" ? `, ${count(round.found, "memory", "memories")} found` : "";
  return `Round ${round.round}${of}: ${round.action ?? "think"}${query}${found}`;
}

/** What a model asked for comes as the arguments of its tool, JSON. */
function plain(query) {
  try {
    const args = JSON.parse(query);
    return typeof args === "object" && args ? Object.values(args).join(", ") : query;
  } catch {
    return query;
  }
}

function card(answer) {
  const sure = answer.abstained ? "not known" : `${percent(answer.confidence)} sure`;
  const builtin = answer.engine === "builtin";
  return h(
    "article",
    { class: answer.abstained ? "answer abstained" : "answer" },
    answer.understood ? h("p", { class: "soft small" }, `Understood as: ${answer.understood}`) : null,
    h("p", { class: "answerText" }, answer.answer),
    answer.note ? h("p", { class: "warning" }, answer.note) : null,
    h(
      "div",
      { class: "answerMeta" },
      answer.abstained ? h("span", null, sure) : meter(answer.confidence, sure),
      h("span", { title: parts(answer.latency_ms) }, millis(answer.latency_ms.total)),
      h(
        "span",
        { class: "origin" },
        icon(builtin ? "lock" : "cloud"),
        builtin ? "built in, nothing left this machine" : answer.engine.replace("model:", ""),
      ),
      verdict(answer),
    ),
  );
}

const parts = (latency) =>
  `of it embedding ${millis(latency.embed)}, recall ${millis(latency.recall)}, model ${millis(latency.model)}`;

function verdict(answer) {
  if (!answer.answer_id || !api.may("operate")) return null;
  const right = h("button", { type: "button", class: "small quiet" }, icon("up"), "Right");
  const wrong = h("button", { type: "button", class: "small quiet" }, icon("down"), "Wrong");
  const group = h("span", { class: "verdict", role: "group", "aria-label": "Was that right?" }, right, wrong);
  const judge = async (button, said, comment) => {
    const payload = { answer: answer.answer_id, verdict: said, ...(comment ? { comment } : {}) };
    if (await carryOut(button, () => api.command("feedback", payload), "Thank you: remembered."))
      group.replaceChildren(h("span", { class: "soft" }, `You said: ${said}`));
  };
  right.addEventListener("click", () => judge(right, "right"));
  wrong.addEventListener("click", () => {
    const comment = h("input", { id: "comment", maxlength: 1000 });
    const send = h("button", { class: "primary" }, "Send");
    const box = dialog({
      title: "What would have been right?",
      body: h(
        "form",
        {
          id: "wrongForm",
          onsubmit: async (event) => {
            event.preventDefault();
            await judge(send, "wrong", comment.value.trim());
            box.close();
          },
        },
        h("label", { for: "comment" }, "In a sentence, or leave it empty"),
        comment,
      ),
      actions: [send],
    });
    send.setAttribute("form", "wrongForm");
    comment.focus();
  });
  return group;
}

function evidence(answer, people) {
  if (!answer.evidence.length) return h("p", { class: "soft" }, "It rests on nothing that is remembered.");
  return h(
    "section",
    null,
    h("h3", null, `It rests on ${count(answer.evidence.length, "memory", "memories")}`),
    evidenceCards(answer.evidence, people),
  );
}
