// What stands beside the text of a record: reasons, preview, assignment, comments, the legend of keys.

import { ask } from "./api.js";
import { el, plural, say, select } from "./dom.js";
import { toUnits } from "./marks.js";

export const typeName = type => type.toLowerCase().replaceAll("_", " ");

const BY = { rules: "rules", encoder: "encoder", llm: "language model", person: "a reviewer", audit: "final check", repeated: "repeated words", known: "known identifiers", dropped: "not by the language model" };
export const sourceNames = sources => [...new Set(sources.map(source => source.split(":")[0]))].map(source => BY[source] || source).join(" and ") || "its source";

// The spans that a reason is about.
const about = (reason, spans) => spans.filter(span => span.field === reason.field && {
  "doubtful": span.doubt && span.found === reason.detail,
  "left-after-audit": span.sources.includes("audit") && span.found === reason.detail,
  "original-repeated": span.sources.includes("repeated") && span.found === reason.detail,
}[reason.code]);

export const reasonList = view => el("section", { "aria-labelledby": "why" },
  el("h3", { id: "why" }, "Why this record was held"),
  el("ul", { class: "reasons" }, ...view.told.reasons.map(reason => {
    const text = view.session.reasons.get(reason.code);
    const spans = about(reason, view.spans), field = view.texts.findIndex(each => each.field === reason.field);
    const isType = view.groups.has(reason.detail);
    let at = -1;
    const next = () => view.focus(view.spans.find(span => span.key === spans[at = (at + 1) % spans.length].key));
    const light = on => () => view.light(on ? spans.map(span => span.key) : []);
    return el("li", {},
      el("span", {}, text?.means || reason.code, isType ? ` Type: ${typeName(reason.detail)}.` : reason.detail && text?.means ? ` (${reason.detail})` : ` ${reason.detail}`, reason.field ? ` Field: ${reason.field}.` : ""),
      text ? el("span", { class: "soft" }, ` ${text.review} `) : null,
      spans.length ? el("button", { class: "link", onclick: next, onmouseenter: light(true), onmouseleave: light(false) }, `Show ${spans.length > 1 ? `the ${spans.length} spans` : "the span"}`)
        : view.texts.length > 1 && field >= 0 ? el("button", { class: "link", onclick: () => view.panels[field].scrollIntoView({ block: "center" }) }, "Show the field") : null);
  })));

export const keyLegend = groups => {
  document.getElementById("keys-list").replaceChildren(...groups.flatMap(([title, keys]) => [el("h3", {}, title),
    el("dl", {}, ...keys.flatMap(([key, says]) => [el("dt", {}, ...key.split(" ").flatMap(each => [el("kbd", {}, each), " "])), el("dd", {}, says)]))]));
  document.getElementById("keys").showModal();
};

// The new texts, each beside its original.
export const preview = async view => {
  const result = await ask("POST", `/v1/review/${view.id}/preview`, view.given());
  view.panels.forEach((panel, at) => {
    const { content, marks } = result.texts[at], pieces = [];
    let done = 0;
    for (const mark of toUnits(content, marks)) {
      pieces.push(content.slice(done, mark.start), el("mark", { class: `new ${view.groups.get(mark.type) || "OTHER"}`, title: typeName(mark.type) }, content.slice(mark.start, mark.end)));
      done = mark.end;
    }
    const out = el("pre", { class: "output", dir: "auto", tabindex: 0, role: "region", "aria-label": `Preview${view.texts[at].field ? ` of ${view.texts[at].field}` : ""}` }, ...pieces, content.slice(done));
    const place = panel.closest(".pair");
    place.querySelector(".preview")?.remove();
    const shown = el("div", { class: "preview" }, el("p", { class: "caption" }, "Preview of the released text"), el("div", { class: "text" }, out));
    place.append(shown);
    view.sheets[at]?.release(shown);
  });
  const whole = view.place.querySelector("#whole");
  whole.hidden = !result.output || !view.texts.some(text => text.field);
  whole.querySelector("pre").textContent = result.output;
  view.place.classList.add("previewing");
  view.place.classList.remove("stale");
  say(`Preview: ${plural(result.texts.reduce((all, text) => all + text.marks.length, 0), "replacement")}.`);
};

export const assignment = view => {
  const { me, reviewers } = view.session, held = view.told.entry.assignee || "";
  const names = [...new Set([me.name, ...reviewers, ...held ? [held] : []])].map(name => [name, name === me.name ? `${name} (me)` : name]);
  return el("section", { "aria-labelledby": "assigned" }, el("h3", { id: "assigned" }, "Assigned to"),
    el("div", { class: "bar" },
      select({ id: "assign", "aria-labelledby": "assigned", onchange: event => assign(view, event.target.value).catch(view.session.fail) }, [["", "nobody"], ...names], held),
      el("button", { id: "assign-me", onclick: () => assign(view, me.name).catch(view.session.fail) }, "Assign to me")));
};

export const assign = async (view, name) => {
  await ask("PUT", `/v1/review/${view.id}/assignment`, { assignee: name || null });
  document.getElementById("assign").value = name;
  say(name ? `Assigned to ${name}.` : "Assigned to nobody.");
};

const commentLines = comments => comments.length
  ? comments.map(comment => el("li", {}, el("span", { class: "soft" }, `${comment.by}, ${comment.at.slice(0, 16).replace("T", " ")} UTC`), el("p", {}, comment.text)))
  : [el("li", { class: "soft" }, "No comments yet.")];

export const comments = view => {
  const lines = el("ul", { class: "comments", "aria-label": "Comments" }, ...commentLines(view.told.comments));
  const text = el("textarea", { id: "comment", rows: 3, maxlength: 4000, "aria-label": "New comment", onkeydown: event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send().catch(view.session.fail);
  } });
  const send = async () => {
    if (!text.value.trim()) return say("Write a comment first.", true);
    lines.replaceChildren(...commentLines(await ask("POST", `/v1/review/${view.id}/comments`, { text: text.value })));
    text.value = "";
    return say("Your comment is saved.");
  };
  return el("section", { "aria-labelledby": "comments-title" }, el("h3", { id: "comments-title" }, "Comments"), lines, text,
    el("p", { class: "soft" }, "Comments are stored encrypted. The audit log records only that you commented."),
    el("button", { id: "send", onclick: () => send().catch(view.session.fail) }, "Add comment"));
};
