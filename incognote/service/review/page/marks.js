// Spans over one text. The API counts code points, the browser UTF-16 units: inside this page they are UTF-16.

export const unitsOf = (text, points) => {
  // Where the given code point offsets (ascending) lie in UTF-16 units.
  const found = new Map();
  let unit = 0, point = 0;
  for (const wanted of points) {
    while (point < wanted && unit < text.length) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    found.set(wanted, unit);
  }
  return found;
};

export const pointsOf = (text, units) => {
  const found = new Map();
  let unit = 0, point = 0;
  for (const wanted of units) {
    while (unit < wanted) {
      unit += text.codePointAt(unit) > 0xffff ? 2 : 1;
      point += 1;
    }
    found.set(wanted, point);
  }
  return found;
};

const ends = spans => [...new Set(spans.flatMap(span => [span.start, span.end]))].sort((a, b) => a - b);

export const toUnits = (text, spans) => {
  const at = unitsOf(text, ends(spans));
  return spans.map(span => ({ ...span, start: at.get(span.start), end: at.get(span.end) }));
};

export const toPoints = (text, spans) => {
  const at = pointsOf(text, ends(spans));
  return spans.map(span => ({ field: span.field, start: at.get(span.start), end: at.get(span.end), type: span.type }));
};

// Seconds as minutes and seconds.
export const clock = seconds => `${Math.floor(Math.round(seconds * 100) / 6000)}:${(Math.round(seconds * 100) % 6000 / 100).toFixed(2).padStart(5, "0")}`;

export const touching = (one, other) => one.start < other.end && other.start < one.end;

// A new span takes the place of those it touches, and reaches over all of them.
export const added = (spans, span) => {
  const whole = { ...span };
  let kept = spans, before;
  do {
    before = kept.length;
    for (const other of kept) {
      if (!touching(whole, other) || other.state === "doubt" || other.state === "dropped") continue;
      whole.start = Math.min(whole.start, other.start);
      whole.end = Math.max(whole.end, other.end);
    }
    kept = kept.filter(other => !touching(whole, other));
  } while (kept.length < before);
  return [...kept, whole].sort((a, b) => a.start - b.start);
};

// Without the blanks at its ends, and never through a character of two units.
export const trimmed = (text, start, end) => {
  while (start < end && /\s/.test(text[start])) start += 1;
  while (end > start && /\s/.test(text[end - 1])) end -= 1;
  const low = at => at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at]) && /[\ud800-\udbff]/.test(text[at - 1]);
  return [low(start) ? start - 1 : start, low(end) ? end + 1 : end];
};

export const occurrences = (text, words) => {
  const found = [];
  for (let at = text.indexOf(words); words && at >= 0; at = text.indexOf(words, at + words.length)) found.push([at, at + words.length]);
  return found;
};

// Where a selection lies in the text of an element.
export const selected = (element, text) => {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.startContainer) || !element.contains(range.endContainer)) return null;
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  const start = before.toString().length;
  const [from, to] = trimmed(text, start, start + range.toString().length);
  return from < to ? [from, to] : null;
};

export const words = text => [...text.matchAll(/[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu)].map(found => [found.index, found.index + found[0].length]);

// Select a stretch of an element's text.
export const select = (element, start, end) => {
  const range = document.createRange(), walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let passed = 0, begun = false;
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const length = node.data.length;
    if (!begun && start < passed + length) { range.setStart(node, start - passed); begun = true; }
    if (begun && end <= passed + length) { range.setEnd(node, end - passed); break; }
    passed += length;
  }
  getSelection().removeAllRanges();
  getSelection().addRange(range);
  const box = range.getBoundingClientRect();
  if (box.top < 120 || box.bottom > innerHeight - 120) scrollBy({ top: box.top - innerHeight / 3 });
};

// Undo and redo over copies of a value.
export class History {
  constructor() {
    this.past = [];
    this.future = [];
  }

  add(before) {
    this.past.push(before);
    if (this.past.length > 200) this.past.shift();
    this.future = [];
  }

  undo(now) {
    if (!this.past.length) return null;
    this.future.push(now);
    return this.past.pop();
  }

  redo(now) {
    if (!this.future.length) return null;
    this.past.push(now);
    return this.future.pop();
  }
}
