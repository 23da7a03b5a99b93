// The queue of held records, its filter, and the neighbors of a record in it.

import { ask, save } from "./api.js";
import { el, plural, say, select, show } from "./dom.js";

const STATES = [["waiting", "waiting"], ["approved", "approved"], ["rejected", "sent back"]];
const AGES = [[0, "any age"], [1, "1 day or more"], [7, "7 days or more"], [30, "30 days or more"]];
const NOBODY = "(nobody)";
export const stateName = state => Object.fromEntries(STATES)[state];

// The filter is kept in memory only: a search may hold something that must not be in an address.
const filter = { state: "waiting", reason: "", days: 0, assignee: "", find: "" };
let keys = null;

const wanted = () => ({
  state: filter.state, days: filter.days,
  ...filter.reason && { reason: filter.reason }, ...filter.find && { find: filter.find },
  ...filter.assignee && { assignee: filter.assignee === NOBODY ? "" : filter.assignee },
});

const search = more => ask("POST", "/v1/review/search", { ...wanted(), ...more });

// The next (or previous) record that matches the filter, or null.
export const neighbor = async (number, step) =>
  (await search({ limit: 1, ...step > 0 ? { after: number } : { before: number } })).entries[0]?.id ?? null;

// The record to go on with after a decision: the next one, else the first one that is left.
export const following = async number =>
  await neighbor(number, 1) ?? (await search({ limit: 2 })).entries.find(entry => entry.number !== number)?.id ?? null;

const days = entry => Math.floor((Date.now() - Date.parse(entry.since)) / 86400000);

const line = (entry, session) => {
  const codes = [...new Set(entry.reasons.map(reason => reason.code))];
  const facts = [entry.data_type || "note", plural(entry.characters, "character"), plural(entry.spans, "span"), entry.release,
    days(entry) > 0 ? plural(days(entry), "day") : "today", entry.comments ? plural(entry.comments, "comment") : null];
  return el("li", {}, el("a", { href: `#record/${entry.id}` },
    el("b", {}, `Record ${entry.number}`),
    el("span", { class: "grow" }, codes.map(code => session.reasons.get(code)?.means || code).join(" ")),
    entry.assignee ? el("span", { class: "badge" }, `assigned to ${entry.assignee}`) : null,
    entry.by ? el("span", { class: "badge" }, entry.state === "waiting" ? `corrected by ${entry.by}` : `${stateName(entry.state)} by ${entry.by}`) : null,
    el("span", { class: "soft facts" }, facts.filter(Boolean).join(" · "))));
};

const form = (session, counts) => {
  const change = name => event => { filter[name] = name === "days" ? Number(event.target.value) : event.target.value.trim(); queue(session).catch(session.fail); };
  const find = event => {
    if (!/^[\w./-]*$/.test(event.target.value.trim())) return say("Enter a record's number, id or key. Names and dates cannot be searched.", true);
    return change("find")(event);
  };
  const reasons = [...session.reasons.values()].map(reason => [reason.code, reason.means]);
  const people = [...new Set([session.me.name, ...session.reviewers])].map(name => [name, name === session.me.name ? `${name} (me)` : name]);
  const field = (label, control) => el("label", {}, label, " ", control);
  return el("form", { class: "bar", role: "search", "aria-label": "Filter", onsubmit: event => event.preventDefault() },
    field("State", select({ id: "state", onchange: change("state") }, STATES.map(([value, text]) => [value, `${text} (${counts[value] || 0})`]), filter.state)),
    field("Reason", select({ id: "reason", onchange: change("reason") }, [["", "any reason"], ...reasons], filter.reason)),
    field("Age", select({ id: "days", onchange: change("days") }, AGES, filter.days)),
    field("Assigned to", select({ id: "assignee", onchange: change("assignee") }, [["", "anyone or nobody"], [NOBODY, "nobody"], ...people], filter.assignee)),
    field("Record", el("input", { id: "find", type: "search", size: 16, value: filter.find, autocomplete: "off", placeholder: "number, id or key", onchange: find })),
    el("button", { type: "button", id: "clear", onclick: () => {
      Object.assign(filter, { state: "waiting", reason: "", days: 0, assignee: "", find: "" });
      queue(session).catch(session.fail);
    } }, "Clear filter"));
};

export const clearQueue = () => { keys?.abort(); keys = null; };

export const queue = async (session, after = 0) => {
  const told = await search({ after });
  const focused = document.activeElement?.closest("form.bar") && document.activeElement.id;
  clearQueue();
  keys = new AbortController();
  document.addEventListener("keydown", pressed, { signal: keys.signal });
  show(el("h2", {}, "Records in review"), form(session, told.counts),
    el("p", { id: "total", class: "soft", role: "status" }, `${plural(told.total, "record")} ${told.total === 1 ? "matches" : "match"}.`),
    told.entries.length ? el("ol", { class: "lines" }, ...told.entries.map(entry => line(entry, session)))
      : el("p", {}, filter.state === "waiting" && !told.counts.waiting ? "No record is waiting for review." : "No record matches. Change or clear the filter."),
    el("div", { class: "bar" },
      told.next ? el("button", { onclick: () => queue(session, told.next).catch(session.fail) }, "Next page") : null,
      session.me.roles.includes("reveal") ? el("button", { onclick: () => save("/v1/gold", "gold.jsonl").catch(error => say(error.message, true)) }, "Export decisions for evaluation (PHI)") : null),
    el("p", { class: "soft" }, "Keys: ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " next and previous record, ", el("kbd", {}, "Enter"), " opens it, ", el("kbd", {}, "/"), " search."));
  if (focused) document.getElementById(focused)?.focus();
};

const pressed = event => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") || event.target.closest("select, input")) return;
  const lines = [...document.querySelectorAll(".lines a")], at = lines.indexOf(document.activeElement);
  const step = { j: 1, k: -1 }[event.key];
  if (step && lines.length) lines[at < 0 ? 0 : Math.min(Math.max(at + step, 0), lines.length - 1)].focus();
  else if (event.key === "/") document.getElementById("find").focus();
  else return;
  event.preventDefault();
};
