// One record: its texts with spans, corrections, the decision.

import { ask } from "./api.js";
import { el, say, show, sure } from "./dom.js";
import { added, occurrences, selected, toPoints, toUnits } from "./marks.js";

const KEYS = [["j k", "next and last span"], ["d", "drop a span, or take it back"], ["a", "take in what is in doubt"],
  ["t", "give a span the chosen type"], ["s", "add what is selected"], ["w", "add words"], ["p", "preview"],
  ["Shift A", "approve"], ["Shift R", "reject"], ["q", "back to the queue"]];

export class RecordView {
  constructor(told, types, me, leave) {
    this.told = told;
    this.types = types;
    this.groups = new Map(types.map(type => [type.name, type.group]));
    this.me = me;
    this.leave = leave;
    this.waits = told.entry.state === "waiting";
    this.texts = told.texts.map(text => ({
      ...text,
      spans: [
        ...toUnits(text.content, told.spans.filter(span => span.field === text.field)).map(span => ({ ...span, state: "on" })),
        ...toUnits(text.content, told.doubts.filter(span => span.field === text.field)).map(span => ({ ...span, state: "doubt" })),
      ].sort((a, b) => a.start - b.start),
    }));
    for (const text of this.texts) {
      // a doubt that a proposal has taken in stands there as a span
      const on = text.spans.filter(span => span.state === "on");
      text.spans = text.spans.filter(span => span.state === "on" || !on.some(one => one.start < span.end && span.start < one.end));
    }
  }

  open() {
    const entry = this.told.entry;
    const reasons = this.told.reasons.map(reason => el("li", {}, [reason.code, reason.field && `at ${reason.field}`, reason.detail].filter(Boolean).join(" ")));
    this.type = el("select", { id: "type", "aria-label": "Type" }, ...this.options());
    this.words = el("input", { id: "words", size: 14, autocomplete: "off", placeholder: "words" });
    this.count = el("output", {});
    this.output = el("div", { hidden: true });
    const can = this.waits && this.told.approvable && this.me.roles.includes("approve");
    const tools = el("div", { class: "bar sticky", role: "toolbar", "aria-label": "Corrections" },
      el("label", {}, "Type ", this.type),
      ...this.waits ? [
        el("button", { id: "add", onclick: () => this.addSelected(), title: "s" }, "Add selection"),
        el("label", {}, "Words ", this.words, el("button", { id: "add-words", onclick: () => this.addWords() }, "Add all")),
        el("button", { id: "drop", onclick: () => this.drop(), title: "d" }, "Drop / keep"),
        el("button", { id: "retype", onclick: () => this.retype(), title: "t" }, "Retype"),
      ] : [], this.count);
    this.panels = this.texts.map((text, at) => el("pre", { "data-text": at, dir: "auto", "aria-label": text.field || "note" }));
    const shown = this.panels.flatMap((panel, at) => [
      this.texts[at].field ? el("h3", {}, this.texts[at].field) : null, el("div", { class: "text" }, panel)]);
    this.place = el("section", { class: "record", "aria-label": "Record" },
      el("h2", {}, `Record ${entry.number} `, el("span", { class: "badge" }, entry.state)),
      el("p", { class: "warn" }, "These are originals: PHI. That you look at them is logged."),
      el("dl", {}, el("dt", {}, "release"), el("dd", {}, entry.release), el("dt", {}, "policy"), el("dd", {}, entry.policy),
        ...entry.by ? [el("dt", {}, this.waits ? "corrections proposed by" : "decided by"), el("dd", {}, entry.by)] : []),
      el("details", { open: true }, el("summary", {}, `Why it is here (${reasons.length})`), el("ul", {}, ...reasons)),
      tools, ...shown.filter(Boolean), this.output,
      el("div", { class: "bar" },
        el("button", { id: "preview", onclick: () => this.preview(), title: "p" }, "Preview"),
        this.waits ? el("button", { id: "propose", onclick: () => this.propose() }, "Save corrections") : null,
        this.waits ? el("button", { id: "approve", class: "go", disabled: !can, onclick: () => this.decide("approve"), title: "Shift A" }, "Approve") : null,
        this.waits ? el("button", { id: "reject", class: "stop", onclick: () => this.decide("reject"), title: "Shift R" }, "Reject") : null,
        el("button", { onclick: () => this.leave(), title: "q" }, "Back to the queue")),
      el("details", {}, el("summary", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([key, what]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, what)]))));
    this.place.addEventListener("keydown", event => this.pressed(event));
    show(this.place);
    if (this.waits && !this.told.approvable) say("This record is held for a reason that no span mends: it can only be rejected, and come again.", true);
    this.draw();
  }

  options() {
    const groups = [...new Set(this.types.map(type => type.group))].sort();
    return groups.map(group => el("optgroup", { label: group },
      ...this.types.filter(type => type.group === group).map(type => el("option", { value: type.name, title: type.about }, type.name))));
  }

  draw(focus = null) {
    this.marks = [];
    this.panels.forEach((panel, at) => {
      const { content, spans } = this.texts[at];
      const pieces = [];
      let done = 0;
      for (const span of spans) {
        pieces.push(content.slice(done, span.start));
        const mark = this.mark(content, span);
        mark.span = span;
        mark.text = this.texts[at];
        this.marks.push(mark);
        pieces.push(mark);
        done = span.end;
      }
      panel.replaceChildren(...pieces, content.slice(done));
    });
    const on = this.texts.flatMap(text => text.spans).filter(span => span.state === "on").length;
    const doubts = this.texts.flatMap(text => text.spans).filter(span => span.state === "doubt").length;
    this.count.textContent = `${on} to be replaced` + (doubts ? `, ${doubts} in doubt` : "");
    if (focus) this.marks.find(mark => mark.span === focus)?.focus();
  }

  mark(content, span) {
    const families = [...new Set(span.sources.map(source => source.split(":")[0]))];
    const by = families.join("+") || "given";
    const source = ["person", "llm", "encoder"].find(one => families.includes(one)) || "rules";
    const state = { on: "", doubt: ", in doubt", dropped: ", dropped" }[span.state];
    return el("mark", {
      class: [this.groups.get(span.type) || "OTHER", `by-${source}`, span.state].join(" "), tabindex: 0, role: "button",
      "data-label": `${span.type} ${by} ${span.score.toFixed(2)}`,
      "aria-label": `${span.type}: ${content.slice(span.start, span.end)}, by ${by}${state}`,
      title: span.sources.join(", "), onclick: () => this.take(span), onfocus: () => this.take(span),
    }, content.slice(span.start, span.end));
  }

  take(span) {
    this.current = span;
    this.type.value = span.type;
  }

  at() {
    return this.marks.find(mark => mark.span === this.current);
  }

  add(text, start, end) {
    const span = { field: text.field, start, end, type: this.type.value, score: 1, sources: ["person"], state: "on" };
    text.spans = added(text.spans, span);
    return text.spans.find(one => one.start <= start && one.end >= end);
  }

  addSelected() {
    for (const [at, panel] of this.panels.entries()) {
      const found = selected(panel, this.texts[at].content);
      if (!found) continue;
      const span = this.add(this.texts[at], ...found);
      getSelection().removeAllRanges();
      this.draw(span);
      return;
    }
    say("Select something in a text first, or write words into the field.", true);
  }

  addWords() {
    const words = this.words.value.trim();
    let count = 0, last = null;
    for (const text of this.texts) {
      for (const [start, end] of occurrences(text.content, words)) {
        last = this.add(text, start, end);
        count += 1;
      }
    }
    say(count ? `Added ${count}.` : "These words stand nowhere.", !count);
    if (count) this.words.value = "";
    this.draw(last);
  }

  drop() {
    const mark = this.at();
    if (!mark) return say("Choose a span first.", true);
    const span = this.current;
    span.state = span.state === "on" ? "dropped" : "on";
    return this.draw(span);
  }

  takeIn() {
    if (this.at() && this.current.state === "doubt") {
      this.current.state = "on";
      this.draw(this.current);
    }
  }

  retype() {
    const mark = this.at(), type = this.type.value;
    if (!mark) return say("Choose a span first.", true);
    Object.assign(this.current, { type, score: 1, sources: ["person"], state: "on" });
    return this.draw(this.current);
  }

  spans() {
    return this.texts.flatMap(text => toPoints(text.content, text.spans.filter(span => span.state === "on")));
  }

  async preview() {
    const told = await ask("POST", `/v1/review/${this.told.entry.id}/preview`, { spans: this.spans() });
    this.output.hidden = false;
    this.output.replaceChildren(el("h3", {}, "What would be written"), el("div", { class: "text" }, el("pre", { class: "plain", id: "output" }, told.output)));
    this.output.scrollIntoView({ block: "nearest" });
  }

  async propose() {
    await ask("PUT", `/v1/review/${this.told.entry.id}/proposal`, { spans: this.spans() });
    say("Your corrections are kept; the record waits on.");
  }

  async decide(outcome) {
    const spans = this.spans();
    const says = outcome === "approve"
      ? `${spans.length} stretches are replaced; the rest leaves as it stands.` : "The record goes to quarantine.";
    if (!await sure(outcome === "approve" ? "Approve this record?" : "Reject this record?", says)) return;
    await ask("POST", `/v1/review/${this.told.entry.id}/decision`, { outcome, spans });
    this.leave(outcome === "approve" ? "Approved." : "Rejected.");
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT)$/.test(event.target.tagName)) return;
    const does = {
      j: () => this.go(1), k: () => this.go(-1), q: () => this.leave(), p: () => this.preview(),
      ...this.waits ? {
        d: () => this.drop(), a: () => this.takeIn(), t: () => this.retype(), s: () => this.addSelected(),
        w: () => this.words.focus(), A: () => document.getElementById("approve").click(), R: () => this.decide("reject"),
      } : {},
    }[event.key];
    if (!does) return;
    event.preventDefault();
    Promise.resolve(does()).catch(error => say(error.message, true));
  }

  go(step) {
    if (!this.marks.length) return;
    const at = this.marks.findIndex(mark => mark.span === this.current);
    const next = at < 0 ? 0 : (at + step + this.marks.length) % this.marks.length;
    this.marks[next].focus();
    this.marks[next].scrollIntoView({ block: "center" });
  }
}
