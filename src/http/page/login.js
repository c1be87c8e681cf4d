// Signing in.

import { h } from "./dom.js";
import { login } from "./api.js";

/** Shows the form; `done` is called when the daemon has let somebody in. */
export function askToSignIn(main, done) {
  if (main.querySelector(".login")) return;
  const wrong = h("p", { class: "wrong", role: "alert" });
  const user = h("input", { id: "user", autocomplete: "username", required: true });
  const password = h("input", { id: "password", type: "password", autocomplete: "current-password", required: true });
  const button = h("button", { class: "primary" }, "Sign in");
  const form = h(
    "form",
    { class: "login card", onsubmit: enter },
    h("h1", null, "Sign in"),
    h("label", { for: "user" }, "User"),
    user,
    h("label", { for: "password" }, "Password"),
    password,
    wrong,
    button,
  );
  async function enter(event) {
    event.preventDefault();
    button.disabled = true;
    wrong.textContent = "";
    try {
      await login(user.value, password.value);
      done();
    } catch (error) {
      wrong.textContent =
        error.status === 429
          ? "Too many tries. Wait a little, then try again."
          : error.status === 401
            ? "User or password is wrong."
            : error.message;
      password.select();
    } finally {
      button.disabled = false;
    }
  }
  main.replaceChildren(form);
  user.focus();
}
