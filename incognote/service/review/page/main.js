// Which page is shown, and who looks at it.

import { ask, remember, save } from "./api.js";
import { dashboard } from "./dashboard.js";
import { el, say, show } from "./dom.js";
import { RecordView } from "./record.js";
import { schema, schemas } from "./schemas.js";

let me = null, types = [], state = "waiting", news = "";

const queue = async (after = 0) => {
  const told = await ask("GET", `/v1/review?state=${state}&after=${after}`);
  const choice = el("select", { id: "state", onchange: event => { state = event.target.value; go(); } },
    ...["waiting", "approved", "rejected"].map(one => el("option", { value: one, selected: one === state }, `${one} (${told.counts[one] || 0})`)));
  show(el("h2", {}, "Records in review"),
    el("div", { class: "bar" }, el("label", {}, "State ", choice),
      me.roles.includes("reveal") ? el("button", { onclick: () => save("/v1/gold", "gold.jsonl").catch(error => say(error.message, true)) }, "Export decisions as gold (PHI)") : null),
    told.entries.length ? el("ol", { class: "lines" }, ...told.entries.map(line)) : el("p", {}, "Nothing is here."),
    told.next ? el("button", { onclick: () => queue(told.next) }, "Next page") : null);
};

const line = entry => el("li", {}, el("a", { href: `#record/${entry.id}` },
  el("b", {}, `No. ${entry.number}`), el("span", {}, [...new Set(entry.reasons.map(reason => reason.code))].join(", ")),
  el("span", { class: "soft" }, entry.data_type || "note"), el("span", { class: "soft" }, `${entry.characters.toLocaleString("en")} characters, ${entry.spans} found`),
  el("span", { class: "soft" }, entry.release), el("span", { class: "soft" }, entry.since.slice(0, 16).replace("T", " ")),
  entry.by ? el("span", { class: "badge" }, entry.state === "waiting" ? `corrected by ${entry.by}` : entry.by) : null));

const record = async id => {
  const told = await ask("GET", `/v1/review/${id}`);
  new RecordView(told, types, me, (said = "") => { news = said; location.hash = "#queue"; }).open();
};

const go = async () => {
  const [page, name] = location.hash.slice(1).split("/");
  for (const link of document.querySelectorAll("nav a")) {
    const here = link.hash.slice(1) === ({ record: "queue", schema: "schemas" }[page] || page || "queue");
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  try {
    if (page === "record") await record(name);
    else if (page === "schemas") await schemas();
    else if (page === "schema") await schema(name, me);
    else if (page === "runs") await dashboard();
    else await queue();
  } catch (error) {
    if (error.status === 401) await login();
    else say(error.message, true);
  }
};

const login = async said => {
  const dialog = document.getElementById("login"), field = document.getElementById("key");
  document.getElementById("login-said").textContent = said || "";
  dialog.showModal();
  field.focus();
  dialog.addEventListener("close", () => {
    remember(field.value.trim());
    field.value = "";
    enter();
  }, { once: true });
};

// The token of a server's start comes behind the #, which no request, proxy or referrer sees, and goes from the address bar.
const arrive = () => {
  const [name, token] = location.hash.slice(1).split("=");
  if (name !== "token" || !token) return;
  remember(token);
  history.replaceState(null, "", location.pathname);
};

const enter = async () => {
  try {
    me = await ask("GET", "/v1/me");
    if (!me.roles.length) return login();
    types = await ask("GET", "/v1/types");
  } catch (error) {
    remember("");
    return login(error.message);
  }
  document.getElementById("who").textContent = `${me.name}: ${me.roles.join(", ")}`;
  return go();
};

addEventListener("hashchange", () => { say(news); news = ""; if (me) go(); });
addEventListener("unhandledrejection", event => { say(event.reason?.message || "This did not work.", true); event.preventDefault(); });
arrive();
enter();
