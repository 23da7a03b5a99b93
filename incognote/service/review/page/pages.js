// The pictures of a document's pages beside its text, with a box around each span.

import { ask } from "./api.js";
import { el } from "./dom.js";
import { toUnits } from "./marks.js";

const NS = "http://www.w3.org/2000/svg";
const WAIT = 150;  // milliseconds after which a page that is scrolled to is shown

const svg = (tag, props) => {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  return element;
};

// One box for each line of a span.
const lines = boxes => {
  const found = [];
  for (const box of boxes) {
    const last = found.at(-1), [left, top, right, bottom] = box;
    const height = last && Math.min(last[3], bottom) - Math.max(last[1], top);
    const isNext = last && height > (bottom - top) / 2 && left < last[2] + bottom - top && right > last[0] - bottom + top;
    if (isNext) found[found.length - 1] = [Math.min(last[0], left), Math.min(last[1], top), Math.max(last[2], right), Math.max(last[3], bottom)];
    else found.push(box);
  }
  return found;
};

// The pages of one text. `at` is the page that is shown, `anchor` the element that stands for it while it is on screen.
class Sheets {
  constructor(view, text, pages) {
    Object.assign(this, { view, text, pages: toUnits(text.content, pages), at: -1, anchor: null, asked: 0 });
    const button = (words, key, does, props = {}) => el("button", { onclick: does, "aria-keyshortcuts": key, ...props }, words, " ", el("kbd", { "aria-hidden": "true" }, key));
    this.back = button("Previous", "b", () => this.turn(-1), { "aria-label": "Previous page" });
    this.next = button("Next", "n", () => this.turn(1), { "aria-label": "Next page" });
    this.size = button("Enlarge", "e", () => this.enlarge(), { "aria-pressed": "false" });
    this.name = el("output", { class: "caption" });
    this.sheet = el("div", { class: "sheet", tabindex: 0, role: "region", onkeydown: event => event.key.startsWith("Arrow") && event.stopPropagation() });
    this.place = el("figure", { class: "pages", "aria-label": "Pages of the original" },
      el("figcaption", { class: "bar" }, this.name, this.back, this.next, this.size), this.sheet);
  }

  get page() { return this.pages[this.at]; }

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
    const at = this.pages.findLastIndex(page => page.start <= span.start);
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
      this.over = svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
      this.sheet.replaceChildren(el("div", {}, el("img", { src: `data:image/png;base64,${png}`, alt: name, width, height }), this.over));
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
      const { png, width, height } = await ask("POST", `/v1/review/${this.view.id}/preview/pages/${number}`, { spans: this.view.points() });
      sheet.replaceChildren(el("div", {}, el("img", { src: `data:image/png;base64,${png}`, alt: name, width, height })));
    } catch (error) {
      sheet.replaceChildren(el("p", { class: "warn" }, "This page cannot be shown."));
      if (error.status === 401) this.view.session.fail(error);
    }
  }

  // Draw the boxes of the spans anew.
  draw() {
    if (!this.boxes) return;
    const { start, end } = this.page, { current, groups } = this.view;
    this.over.replaceChildren(...this.text.spans.filter(span => span.start < end && span.end > start).flatMap(span => {
      const boxes = this.boxes.slice(Math.max(span.start - start, 0), span.end - start).filter(Boolean);
      return lines(boxes).map(([x, y, right, bottom]) => {
        const box = svg("rect", { class: `${groups.get(span.type) || "OTHER"} ${span.state}${span === current ? " current" : ""}`, x, y, width: right - x, height: bottom - y });
        box.addEventListener("click", () => this.view.focus(span));
        return box;
      });
    }));
    this.reveal();
  }

  // Scroll the picture to the current span.
  reveal() {
    const box = this.over?.querySelector(".current")?.getBoundingClientRect(), sheet = this.sheet.getBoundingClientRect();
    if (!box || (box.top >= sheet.top && box.bottom <= sheet.bottom && box.left >= sheet.left && box.right <= sheet.right)) return;
    this.sheet.scrollBy(box.left - sheet.left - sheet.width / 3, box.top - sheet.top - sheet.height / 3);
  }
}

// Ask for the pages of a record, and put their pictures beside the texts.
export const openPages = async view => {
  const pages = (await ask("GET", `/v1/review/${view.id}/pages`)).map((page, index) => ({ ...page, index }));
  view.sheets = view.texts.map(text => {
    const own = pages.filter(page => page.field === text.field);
    return own.length ? new Sheets(view, text, own) : null;
  });
  const shown = view.sheets.filter(Boolean);
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
