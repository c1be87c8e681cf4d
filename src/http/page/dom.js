// Builds elements. Text always becomes a text node: nothing that comes from the memory is ever read as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `h("p", { class: "soft", onclick: f }, "text", child)`. `null`, `undefined` and `false` are left out. */
export function h(tag, props, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An element of SVG, by the same rules. */
export function svg(tag, props, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(element, props, children) {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, one] of Object.entries(value)) element.style.setProperty(name, one);
    else if (key === "value" || key === "checked" || key === "indeterminate") element[key] = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(keep));
  return element;
}

const keep = (child) => child !== null && child !== undefined && child !== false;

/** A list of children as one node. */
export function all(...children) {
  const fragment = document.createDocumentFragment();
  fragment.append(...children.flat(Infinity).filter(keep));
  return fragment;
}

/** Text that only a screen reader says. */
export const spoken = (text) => h("span", { class: "spoken" }, text);

let count = 0;
/** An id for an element, used once. */
export const freshId = (stem) => `${stem}-${(count += 1)}`;
