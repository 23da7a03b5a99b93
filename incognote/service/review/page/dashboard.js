// What runs have done.

import { ask } from "./api.js";
import { el, show, table } from "./dom.js";

const number = value => (value ?? 0).toLocaleString("en");
const dollars = value => value === null ? "price unknown" : value.toFixed(2);
const percent = value => value === null || value === undefined ? "–" : `${(100 * value).toFixed(1)}%`;
const NS = "http://www.w3.org/2000/svg";

const bars = days => {
  const most = Math.max(1, ...days.map(day => day.released + day.review + day.quarantined));
  const chart = document.createElementNS(NS, "svg");
  for (const [name, value] of Object.entries({ class: "bars", viewBox: "0 0 300 100", preserveAspectRatio: "none", role: "img", "aria-label": "Records per day by verdict" })) chart.setAttribute(name, value);
  days.forEach((day, at) => {
    let top = 98;
    for (const kind of ["released", "review", "quarantined"]) {
      const height = 94 * day[kind] / most;
      top -= height;
      const bar = document.createElementNS(NS, "rect");
      const width = 300 / days.length;
      for (const [name, value] of Object.entries({ class: kind, x: at * width + .6, y: top, width: Math.max(.5, width - 1.2), height })) bar.setAttribute(name, value);
      chart.append(bar);
    }
  });
  return chart;
};

export const dashboard = async session => {
  const told = await ask("GET", "/v1/dashboard");
  const sum = (rows, name) => rows.reduce((all, row) => all + (row[name] || 0), 0);
  const sentinel = told.sentinels.at(-1), caught = told.review.changes.added + told.review.changes.moved;
  const card = (value, meaning, bad) => el("li", { class: bad ? "bad" : "" }, el("b", {}, value), meaning);
  show(el("h2", {}, "Runs"),
    el("ul", { class: "cards" },
      card(number(sum(told.releases, "released")), "records released"),
      card(number(told.review.counts.waiting), "waiting for review"),
      card(number(sum(told.releases, "quarantined")), "quarantined"),
      card(number(caught), "leaks caught by reviewers (spans added or moved)"),
      card(`$${sum(told.releases, "usd").toFixed(2)}`, told.releases.some(one => one.usd === null) ? "for language models (some prices are unknown)" : "for language models"),
      card(sentinel ? percent(sentinel.recall) : "–", sentinel
        ? `of planted identifiers found on ${sentinel.day} (95% interval ${percent(sentinel.low)} to ${percent(sentinel.high)}), ${sentinel.leaked} leaked`
        : "no sentinel notes have run", sentinel && sentinel.leaked > 0)),
    el("h3", {}, "Records per day"),
    told.days.length ? bars(told.days) : el("p", { class: "soft" }, "No worker has finished a record yet."),
    told.days.length ? table(["day", "released", "review", "quarantined", "refused"],
      told.days.map(day => [day.day, ...["released", "review", "quarantined", "refused"].map(name => number(day[name]))]), "Records per day") : null,
    el("h3", {}, "Releases"),
    table(["release", "released", "review", "quarantined", "tokens", "US dollars"],
      told.releases.map(one => [one.release, number(one.released), number(one.review), number(one.quarantined), number(one.tokens), dollars(one.usd)]), "Releases"),
    el("h3", {}, "Sentinel notes"),
    table(["night", "notes", "planted", "found", "recall", "leaked", "failed"],
      told.sentinels.map(one => [one.day, number(one.notes), number(one.planted), number(one.found), percent(one.recall), number(one.leaked), number(one.failed)]), "Sentinel notes"),
    el("h3", {}, "Review"),
    table(["why records are held", "records"], Object.entries(told.review.reasons).map(([code, count]) => [session.reasons.get(code)?.means || code, number(count)]), "Reasons"),
    table(["what reviewers changed", "spans"], Object.entries(told.review.changes).map(([what, count]) => [what, number(count)]), "Changes"),
    el("h3", {}, "Documents of jobs"),
    table(["state", "documents"], Object.entries(told.documents).map(([state, count]) => [state, number(count)]), "Documents"),
    told.alarms.length ? el("h3", {}, "Alarms") : null,
    told.alarms.length ? table(["when (UTC)", "what", "release"], told.alarms.map(one => [one.at, one.event, one.release]), "Alarms") : null);
};
