// A name that is changed where it stands.

import { h } from "./dom.js";
import { icon } from "./icons.js";
import { command } from "./api.js";
import { memoryChanged, toast } from "./parts.js";
import { nameOf } from "./who.js";

/** The name as a button; pressed, it becomes a field. Enter keeps, Escape leaves. */
export function nameField(person, level = "p") {
  const words = nameOf(person.id, person.name);
  const box = h("div", { class: "naming" });
  const rest = () => {
    const button = h(
      "button",
      { type: "button", class: person.name ? "nameButton" : "nameButton unnamed", id: `name-${person.id}`, onclick: edit },
      words,
      icon("edit"),
      h("span", { class: "spoken" }, ", change the name"),
    );
    box.replaceChildren(h(level, { class: "personName" }, button));
    return button;
  };
  const edit = () => {
    const input = h("input", {
      id: `name-${person.id}`,
      "aria-label": `Name of ${words}`,
      maxlength: 100,
      value: person.name ?? "",
      autocomplete: "off",
      placeholder: "Name",
    });
    const form = h(
      "form",
      {
        class: "row",
        onsubmit: (event) => {
          event.preventDefault();
          save(input);
        },
      },
      input,
      h("button", { class: "small primary" }, "Keep"),
    );
    input.addEventListener("keydown", (event) => event.key === "Escape" && rest().focus());
    box.replaceChildren(form);
    input.select();
    input.focus();
  };
  const save = async (input) => {
    const name = input.value.trim();
    if (!name || name === person.name) return rest().focus();
    input.disabled = true;
    try {
      await command("name", { entity: person.id, name });
      toast(`${words} is ${name}.`);
      memoryChanged();
    } catch (error) {
      input.disabled = false;
      toast(error.message, true);
      input.focus();
    }
  };
  rest();
  return box;
}
