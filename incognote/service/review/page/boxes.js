// Boxes on the picture of a page: the words under a box, and a pen that draws one by mouse, finger, or keys.

import { plural, say } from "./dom.js";
import { clock } from "./marks.js";

export const UNWORDED = "\u25ae";
const NS = "http://www.w3.org/2000/svg";
const MOVED = 4;  // pixels of the window from which a press is a drag
const SIDES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export const svg = (tag, props, ...children) => {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(props)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

// One box for each line of a span.
export const lines = boxes => {
  const found = [];
  for (const box of boxes) {
    const last = found.at(-1), [left, top, right, bottom] = box;
    const height = last && Math.min(last[3], bottom) - Math.max(last[1], top);
    const isNext = last && height > (bottom - top) / 2 && left < last[2] + bottom - top && right > last[0] - bottom + top;
    if (isNext) found[found.length - 1] = around([last, box]);
    else found.push(box);
  }
  return found;
};

const around = boxes => [0, 1, 2, 3].map(side => (side < 2 ? Math.min : Math.max)(...boxes.map(box => box[side])));

const area = ([left, top, right, bottom]) => Math.max(0, right - left) * Math.max(0, bottom - top);

const shared = (one, two) => area([Math.max(one[0], two[0]), Math.max(one[1], two[1]), Math.min(one[2], two[2]), Math.min(one[3], two[3])]);

// The stretches of words of which a box has at least half. `boxes` are those of the characters, or null.
export const under = (text, boxes, box) => {
  const found = [];
  for (const word of text.matchAll(/\S+/g)) {
    const start = word.index, end = start + word[0].length, own = boxes.slice(start, end).filter(Boolean);
    if (word[0] === UNWORDED || !own.length) continue;
    const whole = around(own), last = found.at(-1);
    if (shared(whole, box) < area(whole) / 2) continue;
    if (last && text.slice(last[1], start) === " ") last[1] = end;
    else found.push([start, end]);
  }
  return found;
};

// A box, or the times of a recording, in words.
export const placeOf = box => box.page ? `Box on page ${box.page}` : `From ${clock(box.start)} to ${clock(box.end)}`;

// What an approval does to them, in words.
export const boxesSaid = regions => !regions.length ? ""
  : regions[0].page ? `, and ${regions.length === 1 ? "1 box" : `${regions.length} boxes`} without words covered` : `, and ${plural(regions.length, "interval")} without words muted`;

// A span for a part of a page or a recording without words. It stands for a character after the text.
export const boxSpan = (text, { type, ...box }) => {
  const at = text.spans.filter(span => span.box).length, start = (text.base.trim() ? text.base.length : 0) + 2 * at + 1;
  return { field: text.field, start, end: start + 1, type, score: 1, sources: ["person"], state: "on", found: type, doubt: false, key: `${text.field} box ${at}`, box };
};

export class Pen {
  // `sheets` has the picture. `does` gets the box that was drawn, and whether all of it is to be covered.
  constructor(sheets, does) {
    Object.assign(this, { sheets, does, box: null, from: null });
    this.frame = svg("rect", { class: "pen" });
    this.place = svg("g", { role: "application", tabindex: 0, "aria-label": "New box. Arrow keys move it, with Shift they size it, plus and minus change the step. Enter sets it, Escape cancels." }, this.frame);
    this.place.addEventListener("keydown", event => this.pressed(event));
  }

  // Draw on a new picture.
  over(picture, width, height) {
    this.cancel();
    Object.assign(this, { picture, width, height, step: Math.max(1, Math.round(width / 100)) });
    picture.addEventListener("mousedown", event => event.preventDefault());  // no selection, and no drag of the picture
    picture.addEventListener("pointerdown", event => this.down(event));
    picture.addEventListener("pointermove", event => this.dragged(event));
    picture.addEventListener("pointerup", event => this.up(event));
    picture.addEventListener("pointercancel", () => this.cancel());
  }

  // Show a box that keys move: at the current box, else in the middle of what is seen.
  start() {
    if (!this.picture) return;
    const whole = this.picture.getBoundingClientRect(), sheet = this.sheets.sheet.getBoundingClientRect(), scale = this.width / whole.width;
    const current = this.picture.querySelector("rect.current");
    const [x, y] = current ? ["x", "y"].map(name => Number(current.getAttribute(name)))
      : [(Math.max(0, sheet.left - whole.left) + sheet.width / 3) * scale, (Math.max(0, sheet.top - whole.top) + Math.min(sheet.height, whole.height) / 3) * scale];
    this.put([x, y, x + this.width / 5, y + this.height / 30]);
    this.place.focus();
    this.tell("Arrow keys move the box, with Shift they size it. Enter sets it.");
  }

  cancel() {
    Object.assign(this, { box: null, from: null });
    this.place.remove();
    this.sheets.sheet.classList.remove("drawing");
  }

  // Show the box, within the page.
  put([left, top, right, bottom]) {
    const wide = Math.min(Math.max(1, Math.round(right - left)), this.width), high = Math.min(Math.max(1, Math.round(bottom - top)), this.height);
    const x = Math.min(Math.max(0, Math.round(left)), this.width - wide), y = Math.min(Math.max(0, Math.round(top)), this.height - high);
    this.box = [x, y, x + wide, y + high];
    for (const [name, value] of Object.entries({ x, y, width: wide, height: high })) this.frame.setAttribute(name, value);
    this.sheets.sheet.classList.add("drawing");
    if (!this.place.isConnected) this.picture.append(this.place);
  }

  // Say what is under the box.
  tell(more = "") {
    const words = this.sheets.wordsIn(this.box);
    say(`${words.length ? `Box over “${words.join("” and “")}”.` : "Box over no words."} ${more}`.trim());
    this.sheets.scrollTo(this.frame);
  }

  set(whole) {
    const box = this.box;
    this.cancel();
    this.does(box, whole);
  }

  pressed(event) {
    if (!this.box || event.ctrlKey || event.metaKey || event.altKey) return;
    const side = SIDES[event.key], [left, top, right, bottom] = this.box;
    if (side) {
      const [x, y] = side.map(each => each * this.step);
      const grown = [left, top, Math.min(Math.max(left + 1, right + x), this.width), Math.min(Math.max(top + 1, bottom + y), this.height)];
      this.put(event.shiftKey ? grown : [left + x, top + y, right + x, bottom + y]);
      this.tell();
    } else if (event.key === "+" || event.key === "-") {
      this.step = Math.min(Math.max(1, Math.round(event.key === "+" ? this.step * 2 : this.step / 2)), this.width);
      say(`The box moves by ${this.step} pixels.`);
    } else if (event.key === "Enter") this.set(event.shiftKey);
    else if (event.key === "Escape") {
      this.cancel();
      this.sheets.sheet.focus();
      say("No box was drawn.");
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Where an event is, in pixels of the picture.
  at(event) {
    const whole = this.picture.getBoundingClientRect(), scale = this.width / whole.width;
    return [(event.clientX - whole.left) * scale, (event.clientY - whole.top) * scale];
  }

  down(event) {
    if (event.button || !event.isPrimary || !this.sheets.view.waits || (event.pointerType === "touch" && !this.box)) return;
    this.from = { x: event.clientX, y: event.clientY, at: this.at(event), moved: false };
  }

  dragged(event) {
    if (!event.buttons) this.from = null;
    if (!this.from || (!this.from.moved && Math.hypot(event.clientX - this.from.x, event.clientY - this.from.y) < MOVED)) return;
    if (!this.from.moved) this.picture.setPointerCapture(event.pointerId);
    this.from.moved = true;
    const clip = ([x, y]) => [Math.min(Math.max(0, x), this.width), Math.min(Math.max(0, y), this.height)];
    const [one, two] = [this.from.at, this.at(event)].map(clip);
    this.put([Math.min(one[0], two[0]), Math.min(one[1], two[1]), Math.max(one[0], two[0]), Math.max(one[1], two[1])]);
  }

  up(event) {
    const drawn = this.from?.moved;
    this.from = null;
    if (drawn) this.set(event.shiftKey);
  }
}
