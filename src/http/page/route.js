// The page's address: which area, and everything that is chosen in it. `#/people?who=person_1&clip=s1/0`.

/** What lies over an area rather than in it. */
const OVERLAYS = ["clip", "at", "memory"];

/** Area and choices of the present address. */
export function here() {
  const text = location.hash.replace(/^#\/?/, "");
  const [area, search = ""] = text.split("?");
  return { area, params: new URLSearchParams(search) };
}

/** The address of an area with its choices; empty ones are left out. */
export function href(area, choices = {}) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(choices))
    if (value !== null && value !== undefined && value !== "" && value !== false) params.set(key, value);
  const search = params.toString();
  return `#/${area}${search ? `?${search}` : ""}`;
}

/** The present address with some choices changed. */
export function changed(choices) {
  const { area, params } = here();
  return href(area, { ...Object.fromEntries(params), ...choices });
}

/** Goes there; `replace`: without a step in the history. */
export function go(address, replace = false) {
  if (address === location.hash) return;
  if (!replace) {
    location.hash = address;
    return;
  }
  history.replaceState(null, "", address);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

/** Writes a choice into the address without anything being drawn anew. */
export function note(choices) {
  history.replaceState(null, "", changed(choices));
}

/** What of the address an area is drawn from. */
export function areaPart() {
  const { area, params } = here();
  for (const name of OVERLAYS) params.delete(name);
  return `${area}?${params}`;
}
