// The language of the search box: words, and `who:` `where:` `when:` `kind:` with a word or a quoted phrase.

import { KIND_NAMES } from "./words.js";

/** What is wanted: `{text, who, where, day, kinds}`. `when:` with a date is a day, with words part of the text, which recall reads times in. */
export function parse(line) {
  const wanted = { text: "", who: null, where: null, day: null, when: null, kinds: [] };
  const words = [];
  for (const [, key, quotedValue, bareValue, quotedWord, word] of line.matchAll(
    /(who|where|when|kind):(?:"([^"]*)"|(\S+))|"([^"]*)"|(\S+)/gi,
  )) {
    const value = quotedValue ?? bareValue;
    if (!key) words.push(quotedWord ?? word);
    else if (key.toLowerCase() === "kind") wanted.kinds.push(...kindsOf(value));
    else if (key.toLowerCase() === "when" && /^\d{4}-\d{2}-\d{2}$/.test(value)) wanted.day = value;
    else wanted[key.toLowerCase()] = value;
  }
  wanted.words = words.join(" ");
  wanted.text = [wanted.words, wanted.when].filter(Boolean).join(" ");
  return wanted;
}

/** Kinds by their name or by the word that the page calls them. */
function kindsOf(value) {
  const word = value.toLowerCase();
  const named = { said: "utterance", seen: "episodic", fact: "semantic", concluded: "reflection" }[word] ?? word;
  return KIND_NAMES.includes(named) ? [named] : [];
}

/** The same as a line again. */
export function written({ words, who, where, when, day, kinds }) {
  const chip = (key, value) => (value ? `${key}:${/\s/.test(value) ? `"${value}"` : value}` : "");
  return [words, chip("who", who), chip("where", where), chip("when", day ?? when), ...kinds.map((kind) => chip("kind", kind))]
    .filter(Boolean)
    .join(" ");
}
