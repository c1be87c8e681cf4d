// The daemon's HTTP interface: every request of the page goes through here.

/** A refused request: `status` of HTTP (0: not reached), `code` and `message` of the error document. */
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let me = { user: null, roles: [], login: false };
/** Called when a request was refused because nobody is signed in. */
let onSignedOut = () => {};

/** Who is signed in, as last asked. */
export const whoami = () => me;
/** Whether the role `look`, `ask`, `operate` or `erase` is held. */
export const may = (role) => me.roles.includes(role);
export function whenSignedOut(callback) {
  onSignedOut = callback;
}

/** An id that no other request has. `randomUUID` is missing where the page came over plain HTTP. */
export function requestId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

async function request(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "unreachable", "The daemon cannot be reached.");
  }
  if (response.ok) return response;
  let error = {};
  try {
    error = (await response.json()).error ?? {};
  } catch {
    // No error document: the status has to say it.
  }
  if (response.status === 401) onSignedOut();
  throw new Refused(response.status, error.code ?? "error", error.message ?? `HTTP status ${response.status}`);
}

async function get(path, signal) {
  return (await request(path, { signal })).json();
}

async function post(path, body, signal) {
  const headers = { "Content-Type": "application/json", "X-Engram": "1" };
  const response = await request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  return response.status === 204 ? null : response.json();
}

export async function loadMe() {
  me = await get("/api/me");
  return me;
}

export const status = (signal) => get("/api/status", signal);
export const stats = (signal) => get("/api/stats", signal);
export const describe = (signal) => get("/api/describe", signal);

/** A verb of `query` with its arguments. */
export const query = (verb, args = {}, signal) => post(`/api/query/${verb}`, args, signal);

/** One SELECT on the documented views; an array of objects, a key per column. */
export async function sql(text, args = {}, signal) {
  const { columns, rows } = await query("sql", { query: text, ...args }, signal);
  return rows.map((row) => Object.fromEntries(row.map((value, at) => [columns[at], value])));
}

/** A word as a literal of SQL. */
export const quoted = (word) => `'${String(word).replaceAll("'", "''")}'`;

/** A question; `id` names its progress. */
export const ask = (body, signal) => post("/api/ask", body, signal);

/** A change, carried out once. */
export const command = (name, body = {}) => post(`/api/${name}`, { id: requestId(), ...body });

export const login = (user, password) => post("/api/login", { user, password });
export const logout = () => post("/api/logout", {});

/** Where a face, a picture or a sound is. */
export const mediaUrl = (digest) => `/api/media/${encodeURIComponent(digest)}`;
/** A snapshot as an MCAP file. */
export const snapshotUrl = (name) => `/api/snapshots/${encodeURIComponent(name)}`;
export const stillUrl = (camera) => `/api/still/${encodeURIComponent(camera)}?t=${Date.now()}`;
export const liveUrl = (camera) => `/api/live/${encodeURIComponent(camera)}`;
