// Sign-in, and which page is shown.

import { ask, remember } from "./api.js";
import { dashboard } from "./dashboard.js";
import { say, show, sure } from "./dom.js";
import { clearQueue, queue } from "./queue.js";
import { RecordView } from "./record.js";
import { schema, schemas } from "./schemas.js";

// What all pages share: who is signed in, the entity types, the reasons by code, the people a record can be assigned to.
const session = { me: null, types: [], reasons: new Map(), reviewers: [] };
let view = null, news = "", shownAt = location.hash, back = false;

session.fail = error => error.status === 401 ? login(error.message) : say(error.message, true);
session.leave = (said = "", id = null) => {
  const hash = id ? `#record/${id}` : "#queue";
  view?.close();
  view = null;
  news = said;
  if (location.hash === hash) go(); else location.hash = hash;
};

const record = async id => {
  view = new RecordView(await ask("GET", `/v1/review/${id}`), session);
  view.open();
};

const go = async () => {
  view?.close();
  view = null;
  clearQueue();
  shownAt = location.hash;
  say(news);
  news = "";
  const [page, name] = location.hash.slice(1).split("/");
  for (const link of document.querySelectorAll("nav a[href^='#']")) {
    const here = link.hash.slice(1) === ({ record: "queue", schema: "schemas" }[page] || page || "queue");
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  try {
    if (page === "record") await record(name);
    else if (page === "schemas") await schemas();
    else if (page === "schema") await schema(name, session.me);
    else if (page === "runs") await dashboard(session);
    else await queue(session);
  } catch (error) {
    session.fail(error);
  }
};

const login = (said = "") => {
  const dialog = document.getElementById("login"), field = document.getElementById("key");
  document.getElementById("login-said").textContent = said;
  if (dialog.open) return;
  dialog.showModal();
  field.focus();
  dialog.addEventListener("close", () => {
    remember(field.value.trim());
    field.value = "";
    enter();
  }, { once: true });
};

// The start token comes after the #, which no request, proxy or referrer sees. It is removed from the address bar.
const arrive = () => {
  const [name, token] = location.hash.slice(1).split("=");
  if (name !== "token" || !token) return;
  remember(token);
  history.replaceState(null, "", location.pathname);
};

const enter = async () => {
  try {
    session.me = await ask("GET", "/v1/me");
    const roles = session.me.roles;
    if (!roles.length) return login();
    if (!roles.includes("review") && !roles.includes("approve")) {
      remember("");
      return login(`This key may not review. Its roles are: ${roles.join(", ")}. Ask an administrator for a key with the role review or approve.`);
    }
    const [types, reasons, people] = await Promise.all(["types", "reasons", "reviewers"].map(name => ask("GET", `/v1/${name}`)));
    Object.assign(session, { types, reasons: new Map(reasons.map(reason => [reason.code, reason])), reviewers: people.names });
  } catch (error) {
    if (error.status === 401) remember("");
    return login(error.message);
  }
  document.getElementById("who").textContent = `${session.me.name}: ${session.me.roles.join(", ")}`;
  return view?.dirty ? say("You are signed in again. Your changes are still here.") : go();
};

addEventListener("hashchange", async () => {
  if (back) { back = false; return; }
  if (!session.me?.roles.length) return;
  if (view?.dirty && !await sure("Discard your changes?", "You changed spans of this record and did not save them.")) {
    back = true;
    location.hash = shownAt;
    return;
  }
  go();
});
addEventListener("beforeunload", event => { if (view?.dirty) event.preventDefault(); });
addEventListener("unhandledrejection", event => { session.fail(event.reason instanceof Error ? event.reason : new Error("This did not work. Reload the page.")); event.preventDefault(); });
arrive();
enter();
