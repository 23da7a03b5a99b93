// One record: its texts with spans, corrections, the decision.

import { ask } from "./api.js";
import { boxSpan, boxesSaid, placeOf, UNWORDED } from "./boxes.js";
import { el, plural, say, show, sure } from "./dom.js";
import { keysOf, QUICK } from "./keys.js";
import { added, History, occurrences, select, selected, toPoints, toUnits, words } from "./marks.js";
import { openPages } from "./pages.js";
import { assign, assignment, comments, keyLegend, preview, reasonList, sourceNames, typeName } from "./panel.js";
import { following, neighbor, stateName } from "./queue.js";

const shown = key => /^[A-Z]$/.test(key) ? `Shift ${key}` : key;
const copied = texts => texts.map(text => text.spans.map(span => ({ ...span })));

export class RecordView {
  constructor(told, session) {
    Object.assign(this, { told, session, id: told.entry.id, waits: told.entry.state === "waiting", history: new History(), current: null, sheets: [] });
    this.groups = new Map(session.types.map(type => [type.name, type.group]));
    this.wordless = new Set(session.types.filter(type => type.pixels).map(type => type.name));
    this.texts = told.texts.map(text => ({ ...text, base: text.content, spans: this.opened(text), get content() { return this.base + `\n${UNWORDED}`.repeat(this.spans.filter(span => span.box).length); } }));
    const body = this.texts.find(text => text.field === "body");
    for (const region of told.regions) body.spans.push(boxSpan(body, region));
    this.saved = JSON.stringify(this.given());
    this.listening = new AbortController();
  }

  // The spans of a text as the page works with them. `found` is the type at first, `key` names a span for good.
  opened(text) {
    const of = (spans, state) => toUnits(text.content, spans.filter(span => span.field === text.field))
      .map(span => ({ ...span, state, found: span.type, doubt: state === "doubt" }));
    const on = of(this.told.spans, "on");
    const free = span => !on.some(other => other.start < span.end && span.start < other.end);
    const doubts = of(this.told.doubts, "doubt").filter(free);  // one that was added and saved is a span now
    for (const reason of this.told.reasons.filter(each => each.code === "original-repeated" && each.field === text.field)) {
      for (const span of on.filter(each => each.type === reason.detail)) {
        for (const [start, end] of occurrences(text.content, text.content.slice(span.start, span.end))) {
          const again = { ...span, start, end, state: "doubt", score: 0, sources: ["repeated"], doubt: true };
          if (free(again) && !doubts.some(other => other.start < end && start < other.end)) doubts.push(again);
        }
      }
    }
    return [...on, ...doubts].sort((a, b) => a.start - b.start).map((span, at) => ({ ...span, key: `${text.field} ${at}` }));
  }

  get spans() { return this.texts.flatMap(text => text.spans); }

  // The pages of the text with the current span, else the first ones.
  get sheet() { return this.sheets[this.texts.findIndex(text => text.spans.includes(this.current))] || this.sheets.find(Boolean); }

  get dirty() { return this.waits && JSON.stringify(this.given()) !== this.saved; }

  // What a request says about the spans, and about the boxes without words.
  given() {
    const on = this.texts.map(text => [text.content, text.spans.filter(span => span.state === "on")]);
    return {
      spans: on.flatMap(([content, spans]) => toPoints(content, spans.filter(span => !span.box))),
      regions: on.flatMap(([, spans]) => spans.filter(span => span.box).map(({ box, type }) => ({ ...box, type }))),
    };
  }

  keys() { return keysOf(this); }

  open() {
    const { entry, approvable } = this.told;
    const mayApprove = this.session.me.roles.includes("approve");
    const act = does => () => Promise.resolve(does()).catch(this.session.fail);
    const button = (id, text, key, does, props = {}) => el("button", { id, onclick: act(does), "aria-keyshortcuts": shown(key).replace(" ", "+"), ...props }, text, " ", el("kbd", { "aria-hidden": "true" }, shown(key)));
    this.type = el("select", { id: "type", "aria-label": "Type" }, ...this.options());
    this.words = el("input", { id: "words", size: 14, autocomplete: "off" });
    this.count = el("output", { id: "count" });
    this.info = el("p", { id: "info", class: "soft" });
    const tools = el("div", { class: "bar sticky", role: "toolbar", "aria-label": "Change spans" },
      ...this.waits ? [
        el("div", { class: "types", role: "group", "aria-label": "Type of the selected words or of the current span" },
          ...QUICK.map((type, at) => el("button", { class: `quick ${this.groups.get(type)}`, "data-type": type, onmousedown: event => event.preventDefault(), onclick: act(() => this.apply(type)), "aria-keyshortcuts": at + 1 },
            el("kbd", { "aria-hidden": "true" }, String(at + 1)), ` ${typeName(type)}`))),
        el("span", { class: "group" }, this.type, button("retype", "Apply type", "t", () => this.apply(this.type.value), { onmousedown: event => event.preventDefault() })),
        el("span", { class: "group" },
          button("add", "Add", "a", () => this.add(), { onmousedown: event => event.preventDefault() }),
          button("remove", "Remove", "d", () => this.remove()), button("undo", "Undo", "u", () => this.undo()), button("redo", "Redo", "r", () => this.redo())),
        el("label", {}, "Words ", this.words, el("button", { id: "add-words", onclick: act(() => this.addWords()) }, "Add everywhere")),
      ] : [], this.count, this.info);
    this.panels = this.texts.map((text, at) => el("pre", { "data-text": at, dir: "auto", "aria-label": text.field || "Note" }));
    const pairs = this.panels.map((panel, at) => el("div", { class: "pair" },
      el("div", {}, el("p", { class: "caption" }, this.texts[at].field || "Original text"), el("div", { class: "text" }, panel))));
    const why = !approvable ? "Spans cannot fix the reason of this record. Send it back."
      : !mayApprove ? "Your key cannot approve. Choose Keep held to save your corrections for a colleague who can." : "";
    this.place = el("section", { class: "record", "aria-labelledby": "record-title" },
      el("div", { class: "bar" }, el("h2", { id: "record-title" }, `Record ${entry.number} `, el("span", { class: "badge" }, stateName(entry.state))),
        button("previous", "Previous record", "K", () => this.turn(-1)), button("next", "Next record", "J", () => this.turn(1)),
        button("legend", "Keys", "?", () => keyLegend(this.keys())), button("back", "Queue", "q", () => this.leave())),
      el("p", { class: "warn" }, "This is original text: PHI. The audit log records that you opened it."),
      reasonList(this), tools,
      el("div", { class: "columns" },
        el("div", {}, ...pairs, el("details", { id: "whole", hidden: true }, el("summary", {}, "Preview of the whole record as a file"), el("div", { class: "text" }, el("pre", { class: "plain" })))),
        el("aside", { "aria-label": "About this record" }, assignment(this), comments(this),
          el("section", { "aria-labelledby": "facts" }, el("h3", { id: "facts" }, "Details"), el("dl", {}, ...this.facts())))),
      el("div", { class: "bar decide", role: "group", "aria-label": "Decision" },
        button("preview", "Preview", "p", () => this.preview()),
        ...this.waits ? [
          button("approve", "Approve", "A", () => this.decide("approve"), { class: "go", disabled: !approvable || !mayApprove, "aria-describedby": why ? "why-not" : null }),
          button("reject", "Send back", "S", () => this.decide("reject"), { class: "stop" }),
          button("hold", "Keep held", "H", () => this.hold()),
        ] : [], why && this.waits ? el("span", { id: "why-not", class: "soft" }, why) : null));
    this.place.setAttribute("tabindex", "-1");
    document.addEventListener("keydown", event => this.pressed(event), { signal: this.listening.signal });
    show(this.place);
    this.type.value = QUICK[0];
    this.draw();
    openPages(this).catch(this.session.fail);
  }

  close() { this.listening.abort(); }

  facts() {
    const entry = this.told.entry;
    return [["Release", entry.release], ["Policy", entry.policy], ["Type", entry.data_type || "note"], ["Waiting since", `${entry.since.slice(0, 16).replace("T", " ")} UTC`], ["Id", entry.id],
      ...entry.by ? [[this.waits ? "Corrected by" : "Decided by", entry.by]] : []].flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]);
  }

  options() {
    const groups = [...new Set(this.session.types.map(type => type.group))].sort();
    return groups.map(group => el("optgroup", { label: typeName(group) },
      ...this.session.types.filter(type => type.group === group).map(type => el("option", { value: type.name, title: type.about }, typeName(type.name)))));
  }

  // Draw all texts anew. `key` names the span that gets the focus.
  draw(key = null) {
    this.marks = [];
    this.panels.forEach((panel, at) => {
      const { content, spans } = this.texts[at], pieces = [];
      let done = 0;
      for (const span of spans) {
        const mark = this.mark(content, span);
        this.marks.push(mark);
        pieces.push(...this.between(at, done, span.start, span.end), mark);
        done = span.end;
      }
      panel.replaceChildren(...pieces, ...this.between(at, done, content.length, Infinity));
    });
    const count = state => this.spans.filter(span => span.state === state).length;
    this.count.textContent = `${count("on")} to be replaced` + (count("doubt") ? `, ${count("doubt")} in doubt` : "");
    for (const [id, entries] of [["undo", this.history.past], ["redo", this.history.future]]) {
      const button = document.getElementById(id);
      if (button) button.disabled = !entries.length;
    }
    const mark = this.marks.find(each => each.span.key === key), onPage = this.onPage;
    for (const sheets of this.sheets) sheets?.draw();
    this.take(mark ? mark.span : null, onPage);
    if (!onPage || !this.sheet.focus(this.current)) mark?.focus();
  }

  // The text between two spans, with a line before each page that begins there or, up to `next`, in the second span.
  between(at, start, end, next) {
    const { content } = this.texts[at], pages = this.sheets[at]?.pages || [], pieces = [];
    let done = start;
    for (const page of pages.length > 1 ? pages : []) {
      if (page.start < start || page.start >= next) continue;
      const begin = Math.min(page.start, end);
      pieces.push(content.slice(done, begin), el("span", { class: "page", "data-page": page.index, "data-label": `Page ${page.number}` }));
      done = begin;
    }
    return [...pieces, content.slice(done, end)];
  }

  // A span in words.
  says(span) {
    const by = sourceNames(span.sources), state = { on: "", doubt: ", in doubt, not replaced", dropped: ", removed, not replaced" }[span.state];
    return `${typeName(span.type)}, found by ${by}, score ${span.score.toFixed(2)}${state}`;
  }

  label(span) {
    const { content } = this.texts.find(text => text.field === span.field);
    return `${span.box ? placeOf(span.box) : content.slice(span.start, span.end).replaceAll(UNWORDED, "No words")}: ${this.says(span)}`;
  }

  mark(content, span) {
    const says = this.says(span);
    const mark = el("mark", {
      class: `${this.groups.get(span.type) || "OTHER"} ${span.state}`, tabindex: -1, role: "button", "data-label": typeName(span.type), title: says,
      "aria-label": this.label(span), onclick: () => mark.focus(), onfocus: () => this.take(span),
    }, content.slice(span.start, span.end));
    return Object.assign(mark, { span, says });
  }

  // Make a span the current one; only this one is a stop of the Tab key. `onPage`: its box has the focus.
  take(span, onPage = false) {
    Object.assign(this, { current: span, onPage });
    const here = this.marks.find(mark => mark.span === span) || null;
    for (const mark of this.marks) {
      mark.tabIndex = mark === (here || this.marks[0]) ? 0 : -1;
      mark.classList.toggle("lit", onPage && mark === here);
    }
    if (span) this.type.value = span.type;
    if (here && onPage) here.scrollIntoView({ block: "nearest" });
    else if (here) this.sheets[this.texts.findIndex(text => text.spans.includes(span))]?.follow(span, here);
    for (const sheets of this.sheets) sheets?.update();
    this.info.textContent = here ? `Current span: ${here.says}` : "No span is chosen. Press j for the next span, ? for all keys.";
  }

  toPage() {
    if (!this.sheet.focus(this.current)) say("The page that is shown has no box of the current span.");
  }

  focus(span) { this.marks.find(mark => mark.span === span)?.focus(); }

  light(keys) { for (const mark of this.marks) mark.classList.toggle("lit", keys.includes(mark.span.key)); }

  go(step, wanted = () => true) {
    const marks = this.marks.filter(mark => wanted(mark.span) || mark.span === this.current);
    if (!marks.some(mark => wanted(mark.span))) return say("There is no such span.");
    getSelection().removeAllRanges();
    const at = marks.findIndex(mark => mark.span === this.current);
    const next = marks[at < 0 ? (step > 0 ? 0 : marks.length - 1) : (at + step + marks.length) % marks.length];
    next.focus({ preventScroll: true });
    return next.scrollIntoView({ block: "center" });
  }

  // Select words with the keyboard, from the current span or the last selection on.
  word(step, more) {
    const chosen = this.selection();
    const at = chosen ? chosen.at : Math.max(0, this.texts.findIndex(text => text.spans.includes(this.current)));
    const all = words(this.texts[at].content);
    if (!all.length) return;
    if (!chosen) {
      const start = this.current ? this.current.start : step > 0 ? -1 : Infinity;
      const found = step > 0 ? all.findIndex(([from]) => from > start) : all.findLastIndex(([from]) => from < start);
      this.range = { from: found < 0 ? all.length - 1 : found, to: found < 0 ? all.length - 1 : found };
    } else {
      const first = all.findIndex(([, to]) => to > chosen.start), last = all.findLastIndex(([from]) => from < chosen.end);
      if (!this.range || Math.min(this.range.from, this.range.to) !== first || Math.max(this.range.from, this.range.to) !== last) this.range = { from: first, to: last };
      this.range.to = Math.min(Math.max(this.range.to + step, 0), all.length - 1);
      if (!more) this.range.from = this.range.to;
    }
    this.place.focus({ preventScroll: true });
    select(this.panels[at], all[Math.min(this.range.from, this.range.to)][0], all[Math.max(this.range.from, this.range.to)][1]);
  }

  // The selected stretch: {at, start, end}, or null.
  selection() {
    for (const [at, panel] of this.panels.entries()) {
      const found = selected(panel, this.texts[at].content);
      if (found) return { at, start: found[0], end: found[1] };
    }
    return null;
  }

  // Change spans. `does` returns the key of the span that gets the focus, or null where nothing changes.
  change(does) {
    const before = copied(this.texts), key = does();
    if (!key) return;
    this.history.add(before);
    getSelection().removeAllRanges();
    this.place.classList.add("stale");
    this.draw(key);
  }

  restore(spans) {
    if (!spans) return say("There is nothing to undo or redo.");
    const key = this.current?.key;
    this.texts.forEach((text, at) => { text.spans = spans[at]; });
    this.place.classList.add("stale");
    return this.draw(key);
  }

  undo() { return this.restore(this.history.undo(copied(this.texts))); }

  redo() { return this.restore(this.history.redo(copied(this.texts))); }

  put(text, start, until, type) {
    const end = Math.min(until, text.base.length);
    if (start >= end) return null;
    const key = `${text.field} new ${start} ${end}`;
    text.spans = added(text.spans, { field: text.field, start, end, type, score: 1, sources: ["person"], state: "on", found: type, doubt: false, key });
    return key;
  }

  // Give the selected words, else the current span, a type.
  apply(type) {
    const chosen = this.selection(), span = this.current;
    if (!chosen && !span) return say("Select words or choose a span first.", true);
    if (!chosen && span.box?.page && !this.wordless.has(type)) return say(`A box without words is one of: ${[...this.wordless].map(typeName).join(", ")}. Press t to choose.`, true);
    this.type.value = type;
    return this.change(() => {
      if (chosen) return this.put(this.texts[chosen.at], chosen.start, chosen.end, type);
      if (span.state === "on" && span.type === type) return null;
      Object.assign(span, { state: "on" }, span.type === type ? {} : { type, score: 1, sources: ["person"] });
      return span.key;
    });
  }

  // The words in a box on a page become spans. If there are none, or for the whole box, it is covered as it is.
  addBox(sheets, [x0, y0, x1, y1], whole) {
    const { text, page } = sheets, found = sheets.under([x0, y0, x1, y1]), asItIs = whole || !found.length;
    if (asItIs && !page.takes_regions) return say("This page is not written as a picture. Draw a box around words.", true);
    const type = this.type.value;
    this.onPage = true;
    return this.change(() => {
      let key = null;
      for (const [start, end] of found) key = this.put(text, start, end, type);
      if (!asItIs) return key;
      text.spans.push(boxSpan(text, { page: page.number, x0, y0, x1, y1, type: this.wordless.has(type) ? type : "UNREAD" }));
      return text.spans.at(-1).key;
    });
  }

  add() { return this.apply(this.type.value); }

  remove() {
    const span = this.current;
    if (!span) return say("Choose a span first: press j, or click it.", true);
    return this.change(() => {
      span.state = span.state === "on" ? "dropped" : "on";
      return span.key;
    });
  }

  addWords() {
    const wanted = this.words.value.trim();
    let count = 0;
    this.change(() => {
      let key = null;
      for (const text of this.texts) for (const [start, end] of occurrences(text.content, wanted)) {
        key = this.put(text, start, end, this.type.value);
        count += 1;
      }
      return key;
    });
    if (count) this.words.value = "";
    say(count ? `${plural(count, "span")} added.` : wanted ? "The record does not contain these words." : "Enter words first.", !count);
  }

  preview() {
    if (!this.place.classList.contains("previewing") || this.place.classList.contains("stale")) return preview(this);
    return this.place.classList.remove("previewing");
  }

  async save() {
    await ask("PUT", `/v1/review/${this.id}/proposal`, this.given());
    this.saved = JSON.stringify(this.given());
  }

  async hold() {
    const changed = this.dirty;
    if (changed) await this.save();
    await this.onward(changed ? "Kept held. Your corrections are saved." : "Kept held.");
  }

  async decide(outcome) {
    if (document.getElementById(outcome).disabled) return say(document.getElementById("why-not").textContent, true);
    const { spans, regions } = this.given(), left = this.texts.flatMap(text => text.spans.filter(span => span.state === "doubt").map(span => `“${text.content.slice(span.start, span.end)}” (${typeName(span.type)})`));
    const yes = outcome === "approve"
      ? await sure("Approve this record?", `${plural(spans.length, "span")} will be replaced${boxesSaid(regions)}. Everything else is released as it is.`,
        left.length ? el("div", { class: "warn" }, el("p", {}, "These stay readable, although a detector was not sure about them:"), el("ul", {}, ...[...new Set(left)].slice(0, 12).map(words_ => el("li", {}, words_)), left.length > 12 ? el("li", {}, "and more") : null)) : null)
      : await sure("Send this record back?", "It moves to the quarantine. An operator can correct the cause and run it again.");
    if (!yes) return;
    await ask("POST", `/v1/review/${this.id}/decision`, { outcome, spans, regions });
    this.waits = false;
    await this.onward(outcome === "approve" ? "Approved." : "Sent back.");
  }

  // After a decision: the next record of the filter, else the queue.
  async onward(said) {
    const next = await following(this.told.entry.number);
    this.session.leave(next ? said : `${said} No other record matches the filter.`, next);
  }

  async turn(step) {
    const next = await neighbor(this.told.entry.number, step);
    if (!next) say(step > 0 ? "This is the last record of the filter." : "This is the first record of the filter.");
    else location.hash = `#record/${next}`;
  }

  leave() { location.hash = "#queue"; }

  pressed(event) {
    if (document.querySelector("dialog[open]")) return;
    const field = event.target.closest("select, input, textarea");
    const held = event.ctrlKey || event.metaKey;
    let does;
    if (field) {
      if (event.key === "Escape") does = () => this.place.focus({ preventScroll: true });
      else if (event.key === "Enter" && field === this.type) does = () => this.selection() || this.current ? this.apply(this.type.value) : this.place.focus({ preventScroll: true });
      else if (event.key === "Enter" && field === this.words) does = () => this.addWords();
    } else if (held && this.waits) {
      does = { z: () => event.shiftKey ? this.redo() : this.undo(), Z: () => this.redo(), y: () => this.redo() }[event.key];
    } else if (!held && !event.altKey) {
      const row = this.keys().flatMap(([, rows]) => rows).find(each => event.key in each[2]);
      if (row && (this.waits || !row[3])) does = row[2][event.key];
    }
    if (!does) return;
    event.preventDefault();
    Promise.resolve(does(event)).catch(this.session.fail);
  }
}
