// The pictures of a document's pages beside its text, with a box around each span.

import { ask } from "./api.js";
import { lines, Pen, svg, under } from "./boxes.js";
import { el, say } from "./dom.js";
import { toUnits } from "./marks.js";
import { openSound } from "./sound.js";

const WAIT = 150;  // milliseconds after which a page that is scrolled to is shown

// The pages of one text. `at` is the page that is shown, `anchor` the element that stands for it while it is on screen.
class Sheets {
  constructor(view, text, pages) {
    Object.assign(this, { view, text, pages: toUnits(text.content, pages), at: -1, anchor: null, asked: 0 });
    const button = (words, key, does, props = {}) => el("button", { onclick: does, "aria-keyshortcuts": key, ...props }, words, " ", el("kbd", { "aria-hidden": "true" }, key));
    this.back = button("Previous", "b", () => this.turn(-1), { "aria-label": "Previous page" });
    this.next = button("Next", "n", () => this.turn(1), { "aria-label": "Next page" });
    this.size = button("Enlarge", "e", () => this.enlarge(), { "aria-pressed": "false" });
    this.pen = new Pen(this, (box, whole) => view.addBox(this, box, whole));
    const pen = view.waits ? button("Draw box", "Shift B", () => this.pen.start(), { "aria-keyshortcuts": "Shift+B" }) : null;
    this.name = el("output", { class: "caption" });
    this.sheet = el("div", { class: "sheet", tabindex: 0, role: "region", onkeydown: event => event.key.startsWith("Arrow") && event.stopPropagation() });
    this.place = el("figure", { class: "pages", "aria-label": "Pages of the original" },
      el("figcaption", { class: "bar" }, this.name, this.back, this.next, this.size, ...pen ? [pen] : []), this.sheet);
  }

  get page() { return this.pages[this.at]; }

  // The keys that pages add, as in `keysOf`.
  get moves() {
    return [
      ["n b", "Next and previous page of the original", { n: () => this.turn(1), b: () => this.turn(-1) }],
      ["e", "Enlarge the picture of the page", { e: () => this.enlarge() }],
      ["o", "Go to the current span on the picture; there, arrow keys go from box to box, and Enter goes back to the text", { o: () => this.view.toPage() }],
    ];
  }

  get changes() {
    return [["Shift B", "Draw a box on the page: arrow keys move it, with Shift they size it, + and − change the step, Enter sets it. Shift Enter also covers what is not words", { B: () => this.pen.start() }, true]];
  }

  turn(step) {
    const at = Math.min(Math.max(this.at + step, 0), this.pages.length - 1);
    const mark = this.view.place.querySelector(`[data-page="${this.pages[at].index}"]`);
    if (this.isBeside && mark) {
      this.anchor = mark;
      mark.scrollIntoView({ block: "start" });
    }
    this.show(at);
  }

  enlarge() {
    const large = this.sheet.classList.toggle("large");
    this.size.setAttribute("aria-pressed", large);
    this.reveal();
  }

  // Whether the picture is beside the text, and not above it.
  get isBeside() { return getComputedStyle(this.place).position === "sticky"; }

  // Between `top` and `bottom` of the window, the picture has room beside the text.
  fit(top, bottom) {
    this.place.style.maxHeight = this.isBeside ? `${bottom - Math.max(top, this.place.getBoundingClientRect().top)}px` : "";
  }

  // Show the page that is at `top`, or the one of the anchor while that is on screen.
  scrolled(top) {
    if (!this.isBeside) return;
    const box = this.anchor?.isConnected && this.anchor.getBoundingClientRect();
    if (box && box.bottom >= top && box.top <= innerHeight) return;
    this.anchor = null;
    const marks = [...this.place.closest(".pair").querySelectorAll("pre[data-text] [data-page]")];
    const mark = marks.findLast(each => each.getBoundingClientRect().top <= top + 40) || marks[0];
    const at = this.pages.findIndex(page => page.index === Number(mark?.dataset.page));
    if (at >= 0 && at !== this.at) this.show(at, WAIT);
  }

  // Show the page of a span.
  follow(span, mark) {
    const at = this.pages.findLastIndex(page => span.box ? page.number === span.box.page : page.start <= span.start);
    if (at < 0) return;
    this.anchor = mark;
    this.show(at, WAIT);
  }

  async show(at, wait = 0) {
    if (at === this.at) return;
    this.at = at;
    const { number, within, index } = this.page, asked = this.asked += 1;
    const last = this.pages.findLast(page => page.within === within).number;
    const name = `Page ${number} of the original${within ? `, ${within}` : ""}`;
    this.name.textContent = `Page ${number} of ${last}`;
    this.back.disabled = at === 0;
    this.next.disabled = at === this.pages.length - 1;
    this.boxes = null;
    this.sheet.setAttribute("aria-label", name);
    this.sheet.replaceChildren(el("p", { class: "soft" }, "Loading …"));
    await new Promise(done => setTimeout(done, wait));
    if (asked !== this.asked) return;
    if (this.under?.isConnected && this.view.place.matches(".previewing:not(.stale)")) this.release(this.under);
    try {
      const { png, width, height, boxes } = await ask("GET", `/v1/review/${this.view.id}/pages/${index}`);
      if (asked !== this.asked) return;
      this.boxes = [...this.text.content.slice(this.page.start, this.page.end)].flatMap((each, i) => Array(each.length).fill(boxes[i]));
      this.layer = svg("g", {});
      this.over = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Boxes on the page" }, this.layer);
      this.pen.over(this.over, width, height);
      this.sheet.replaceChildren(el("div", {}, el("img", { src: `data:image/png;base64,${png}`, alt: name, width, height, draggable: "false" }), this.over));
      this.draw();
    } catch (error) {
      if (asked !== this.asked) return;
      this.sheet.replaceChildren(el("p", { class: "warn" }, "This page cannot be shown. Review its text."));
      if (error.status === 401) this.view.session.fail(error);
    }
  }

  // Show the page under the new text, as an approval would release it. There is no picture of a page within another file.
  async release(under) {
    this.under = under;
    under.querySelector("figure")?.remove();
    const { number, within } = this.page, name = `Page ${number}, as it would be released`;
    if (within) return;
    const sheet = el("div", { class: "sheet", tabindex: 0, role: "region", "aria-label": name }, el("p", { class: "soft" }, "Loading …"));
    under.append(el("figure", {}, el("figcaption", { class: "caption" }, name), sheet));
    try {
      const { png, width, height } = await ask("POST", `/v1/review/${this.view.id}/preview/pages/${number}`, this.view.given());
      sheet.replaceChildren(el("div", {}, el("img", { src: `data:image/png;base64,${png}`, alt: name, width, height })));
    } catch (error) {
      sheet.replaceChildren(el("p", { class: "warn" }, "This page cannot be shown."));
      if (error.status === 401) this.view.session.fail(error);
    }
  }

  // Draw the boxes of the spans anew.
  draw() {
    if (!this.boxes) return;
    const { start, end, number } = this.page;
    const isHere = span => span.box ? span.box.page === number : span.start < end && span.end > start;
    this.layer.replaceChildren(...this.text.spans.filter(isHere).map(span => {
      const { x0, y0, x1, y1 } = span.box || {};
      const boxes = span.box ? [[x0, y0, x1, y1]] : lines(this.boxes.slice(Math.max(span.start - start, 0), span.end - start).filter(Boolean));
      const place = svg("g", { role: "button", tabindex: -1, "aria-label": this.view.label(span) }, ...boxes.map(([x, y, right, bottom]) => svg("rect", { x, y, width: right - x, height: bottom - y })));
      place.addEventListener("click", () => place.focus());
      place.addEventListener("focus", () => this.view.take(span, true));
      place.addEventListener("keydown", event => this.pressed(event, place));
      return Object.assign(place, { span });
    }).filter(place => place.childElementCount));
    this.update();
  }

  // Show which span is the current one. Only its box, or else the first one, is a stop of the Tab key.
  update() {
    if (!this.boxes) return;
    const { current, groups } = this.view, all = [...this.layer.children], stop = all.find(place => place.span === current) || all[0];
    for (const place of all) {
      place.setAttribute("tabindex", place === stop ? 0 : -1);
      for (const rect of place.children) rect.setAttribute("class", `${groups.get(place.span.type) || "OTHER"} ${place.span.state}${place.span === current ? " current" : ""}`);
    }
    this.reveal();
  }

  // Arrow keys go to the next and previous box; Enter goes to its words.
  pressed(event, place) {
    const all = [...this.layer.children], step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) all[(all.indexOf(place) + step + all.length) % all.length].focus({ preventScroll: true });
    else if (event.key === "Enter") this.view.focus(place.span);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Put the focus on the box of a span. Return whether it has one on this page.
  focus(span) {
    const place = [...this.layer?.children || []].find(each => each.span === span);
    place?.focus({ preventScroll: true });
    return Boolean(place);
  }

  // The stretches of the text of which a box has the words.
  under(box) {
    const { start, end } = this.page;
    return under(this.text.content.slice(start, end), this.boxes, box).map(stretch => stretch.map(at => at + start));
  }

  wordsIn(box) { return this.under(box).map(([start, end]) => this.text.content.slice(start, end)); }

  // Scroll the picture to the current span.
  reveal() {
    const box = this.over?.querySelector(".current");
    if (box) this.scrollTo(box);
  }

  // Scroll the picture to a box.
  scrollTo(place) {
    const box = place.getBoundingClientRect(), sheet = this.sheet.getBoundingClientRect();
    if (box.top >= sheet.top && box.bottom <= sheet.bottom && box.left >= sheet.left && box.right <= sheet.right) return;
    this.sheet.scrollBy(box.left - sheet.left - sheet.width / 3, box.top - sheet.top - sheet.height / 3);
  }
}

// Ask for the pages of a record, and put their pictures beside the texts.
export const openPages = async view => {
  const slow = setTimeout(() => say("The pages are being opened …"), 1000);
  const pages = (await ask("GET", `/v1/review/${view.id}/pages`).finally(() => clearTimeout(slow))).map((page, index) => ({ ...page, index }));
  view.sheets = view.texts.map(text => {
    const own = pages.filter(page => page.field === text.field);
    return own.length ? new Sheets(view, text, own) : null;
  });
  const shown = view.sheets.filter(Boolean);
  if (!shown.length && view.told.sound) await openSound(view);
  if (!shown.length || view.listening.signal.aborted) return;
  view.place.classList.add("paged");
  view.sheets.forEach((sheets, at) => sheets && view.panels[at].closest(".pair").prepend(sheets.place));
  const tools = view.place.querySelector(".sticky"), decide = view.place.querySelector(".decide");
  const fit = () => {
    view.place.style.setProperty("--tools", `${tools.offsetHeight}px`);
    for (const sheets of shown) sheets.fit(tools.offsetHeight, innerHeight - decide.offsetHeight);
  };
  const options = { signal: view.listening.signal, passive: true };
  addEventListener("resize", fit, options);
  addEventListener("scroll", () => {
    fit();
    for (const sheets of shown) sheets.scrolled(tools.offsetHeight);
  }, options);
  new ResizeObserver(fit).observe(tools);
  fit();
  shown.forEach(sheets => sheets.show(0));
  if (shown.some(sheets => sheets.pages.length > 1)) view.draw(view.current?.key);
};
