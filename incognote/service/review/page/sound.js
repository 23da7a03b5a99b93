// The waveform of a recording above its text, with the interval of each span, and its original sound.

import { ask } from "./api.js";
import { boxSpan, svg } from "./boxes.js";
import { el, say } from "./dom.js";
import { clock, toUnits } from "./marks.js";

const HIGH = 120;  // pixels of the waveform
const WIDEST = 30;  // seconds that are shown at first
const AROUND = 1.5;  // seconds that are played before and after an interval
const MOST = 60;  // seconds that one request returns
const STEP = 0.1;  // seconds by which keys move an edge of a drawn interval
const MOVED = 4;  // pixels of the window from which a press is a drag
const EDGE = 6;  // pixels around an edge in which the mouse takes it

class Sound {
  constructor(view, text, told) {
    Object.assign(this, { view, text, told, pages: [], from: 0, wide: Math.min(WIDEST, told.seconds), drawn: null, drag: null, playing: null });
    this.pieces = toUnits(text.base, told.pieces.map(([start, end, since, until]) => ({ start, end, since, until })));
    const button = (words, key, does, props = {}) => el("button", { onclick: () => Promise.resolve(does()).catch(view.session.fail), "aria-keyshortcuts": key, ...props }, words, " ", el("kbd", { "aria-hidden": "true" }, key));
    this.name = el("output", { class: "caption" });
    this.pen = view.waits ? button("Add interval", "Shift B", () => this.start()) : null;
    this.layer = svg("g", {});
    this.wave = svg("path", { class: "wave" });
    this.ticks = svg("g", { class: "ticks" });
    this.head = svg("line", { class: "head", y1: 0, y2: HIGH, visibility: "hidden" });
    this.frame = svg("rect", { class: "pen", y: 1, height: HIGH - 2 });
    this.pencil = svg("g", { role: "application", tabindex: 0, "aria-label": "New interval. Arrow keys move it, with Shift they size it. Enter sets it, Escape cancels." }, this.frame);
    this.pencil.addEventListener("keydown", event => this.penned(event));
    this.over = svg("svg", { role: "group", "aria-label": "Intervals of the recording", height: HIGH + 16 }, this.wave, this.ticks, this.layer, this.head);
    this.sheet = el("div", { class: "sheet wavy", tabindex: 0, role: "region", "aria-label": "Waveform of the original" }, this.over);
    this.over.addEventListener("pointerdown", event => this.down(event));
    this.over.addEventListener("pointermove", event => this.dragged(event));
    this.over.addEventListener("pointerup", event => this.up(event));
    this.over.addEventListener("pointercancel", () => this.cancel());
    this.over.addEventListener("mousedown", event => event.preventDefault());
    this.place = el("figure", { class: "sound", "aria-label": "Sound of the original" },
      el("figcaption", { class: "bar" }, this.name, button("Play around", "Space", () => this.play(false)), button("Play muted", "x", () => this.play(true)),
        button("Back", "b", () => this.turn(-1)), button("Forward", "n", () => this.turn(1)), button("Zoom", "e", () => this.enlarge()), ...this.pen ? [this.pen] : []),
      this.sheet);
    new ResizeObserver(() => this.draw()).observe(this.sheet);
  }

  // The keys that sound adds, as in `keysOf`.
  get moves() {
    return [
      ["Space", "Play the original around the current span, or stop", { " ": () => this.play(false) }],
      ["x", "Play the same as it would be released, with the intervals silent", { x: () => this.play(true) }],
      ["n b", "Forward and back in the waveform", { n: () => this.turn(1), b: () => this.turn(-1) }],
      ["e", "Zoom the waveform in, and out again", { e: () => this.enlarge() }],
      ["o", "Go to the current span on the waveform; there, arrow keys go from interval to interval, and Enter goes back to the text", { o: () => this.view.toPage() }],
    ];
  }

  get changes() {
    const edge = (side, step) => () => this.edge(side, step);
    return [
      ["[ ]", "Extend the current interval at its start or end: by a word, or a drawn one by 0.1 seconds", { "[": edge("start", -1), "]": edge("end", 1) }, true],
      ["{ }", "Shorten it at its start or end", { "{": edge("start", 1), "}": edge("end", -1) }, true],
      ["Shift B", "Add an interval: arrow keys move it, with Shift they size it, Enter sets it. Words in it become a span. Shift Enter also mutes all of its time", { B: () => this.start() }, true],
    ];
  }

  get scale() { return this.over.clientWidth / this.wide; }

  x(seconds) { return (seconds - this.from) * this.scale; }

  // The times that a span mutes: [start, end], or null.
  time(span) {
    if (span.box) return [span.box.start, span.box.end];
    const own = this.pieces.filter(piece => piece.start < span.end && span.start < piece.end);
    if (!own.length) return null;
    const { margin, seconds } = this.told;
    return [Math.max(0, Math.min(...own.map(piece => piece.since)) - margin), Math.min(seconds, Math.max(...own.map(piece => piece.until)) + margin)];
  }

  // The stretch of the text whose words are said between two times, at least by half; null for none.
  under(start, end) {
    const own = this.pieces.filter(piece => (piece.since + piece.until) / 2 >= start && (piece.since + piece.until) / 2 <= end);
    return own.length ? [own[0].start, own.at(-1).end] : null;
  }

  get muted() {
    if (this.told.voice === "remove") return [[0, this.told.seconds]];
    return this.text.spans.filter(span => span.state === "on").map(span => this.time(span)).filter(Boolean);
  }

  turn(step) { this.look(this.from + step * this.wide * 0.8); }

  enlarge() {
    const { seconds } = this.told, near = Math.min(6, seconds), middle = this.view.current && this.time(this.view.current);
    this.wide = this.wide > near ? near : Math.min(WIDEST, seconds);
    this.look(middle ? (middle[0] + middle[1] - this.wide) / 2 : this.from);
  }

  // Show the waveform from a time on.
  look(from) {
    this.from = Math.min(Math.max(0, from), Math.max(0, this.told.seconds - this.wide));
    this.draw();
  }

  fit() {}

  scrolled() {}

  // Show the interval of a span.
  follow(span) {
    const time = this.time(span);
    if (time && (time[0] < this.from || time[1] > this.from + this.wide)) this.look((time[0] + time[1] - this.wide) / 2);
  }

  // Say under the new text how much of the recording an approval would leave.
  release(under) {
    under.querySelector("figure")?.remove();
    let silent = 0, at = 0;
    for (const [start, end] of this.muted.sort((one, two) => one[0] - two[0])) {
      silent += Math.max(0, end - Math.max(at, start));
      at = Math.max(at, end);
    }
    under.append(el("figure", {}, el("figcaption", { class: "caption" }, `${silent.toFixed(1)} of ${this.told.seconds.toFixed(1)} seconds would be silent. Press x to hear it.`)));
  }

  // Draw the waveform and the intervals anew.
  draw() {
    const { peaks, seconds } = this.told, wide = this.over.clientWidth;
    if (!wide) return;
    this.over.setAttribute("viewBox", `0 0 ${wide} ${HIGH + 16}`);
    const most = Math.max(10, ...[...Array(Math.ceil(peaks.length / 1000)).keys()].map(at => Math.max(...peaks.slice(at * 1000, at * 1000 + 1000))));
    const first = Math.floor(this.from / seconds * peaks.length), last = Math.ceil((this.from + this.wide) / seconds * peaks.length);
    const lines = peaks.slice(first, last).map((peak, at) => {
      const x = this.x((first + at + 0.5) / peaks.length * seconds).toFixed(1), half = Math.max(0.5, peak / most * (HIGH / 2 - 4));
      return `M${x} ${(HIGH / 2 - half).toFixed(1)}V${(HIGH / 2 + half).toFixed(1)}`;
    });
    this.wave.setAttribute("d", lines.join(""));
    const every = [0.5, 1, 2, 5, 10, 30, 60].find(each => each * this.scale > 60) || 60;
    const ticks = [];
    for (let at = Math.ceil(this.from / every) * every; at <= this.from + this.wide; at += every) {
      const says = svg("text", { x: this.x(at) + 3, y: HIGH + 12 }, clock(at).replace(/\.00$/, ""));
      ticks.push(svg("line", { x1: this.x(at), x2: this.x(at), y1: HIGH, y2: HIGH + 14 }), says);
    }
    this.ticks.replaceChildren(...ticks);
    this.name.textContent = `${clock(this.from)} to ${clock(this.from + this.wide)} of ${clock(seconds)}`;
    this.layer.replaceChildren(...this.text.spans.map(span => {
      const time = this.time(span);
      if (!time || time[1] < this.from || time[0] > this.from + this.wide) return null;
      const place = svg("g", { role: "button", tabindex: -1, "aria-label": `${this.view.label(span)}, ${clock(time[0])} to ${clock(time[1])}` },
        svg("rect", { x: this.x(time[0]), y: 1, width: (time[1] - time[0]) * this.scale, height: HIGH - 2 }));
      place.append(svg("title", {}, `${this.view.label(span)}. ${clock(time[0])} to ${clock(time[1])}`));
      place.addEventListener("focus", () => this.view.take(span, true));
      place.addEventListener("keydown", event => this.pressed(event, place));
      return Object.assign(place, { span });
    }).filter(Boolean));
    this.update();
  }

  // Show which span is the current one. Only its interval, or else the first one, is a stop of the Tab key.
  update() {
    const { current, groups } = this.view, all = [...this.layer.children], stop = all.find(place => place.span === current) || all[0];
    for (const place of all) {
      place.setAttribute("tabindex", place === stop ? 0 : -1);
      place.querySelector("rect").setAttribute("class", `${groups.get(place.span.type) || "OTHER"} ${place.span.state}${place.span === current ? " current" : ""}`);
    }
  }

  // Arrow keys go to the next and previous interval; Enter goes to its words.
  pressed(event, place) {
    const spans = this.text.spans.filter(span => this.time(span)).sort((one, two) => this.time(one)[0] - this.time(two)[0]);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (step) {
      const next = spans[(spans.indexOf(place.span) + step + spans.length) % spans.length];
      this.follow(next);
      this.focus(next);
    } else if (event.key === "Enter") this.view.focus(place.span);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Put the focus on the interval of a span. Return whether it has one.
  focus(span) {
    if (span) this.follow(span);
    const place = [...this.layer.children].find(each => each.span === span);
    place?.focus({ preventScroll: true });
    return Boolean(place);
  }

  // Move an edge of the current interval: of a drawn one by a step, of words to the next word.
  edge(side, step) {
    const span = this.view.current;
    if (!span) return say("Choose a span first: press j, or click it.", true);
    if (span.box) return this.set(span, side, span.box[side] + step * STEP);
    const own = this.pieces.filter(piece => piece.start < span.end && span.start < piece.end);
    const at = this.pieces.indexOf(side === "start" ? own[0] : own.at(-1)) + step, piece = this.pieces[at];
    if (!piece || (side === "start" ? piece.start >= span.end : piece.end <= span.start)) return say(own.length > 1 || !piece ? "There is no other word." : "It has one word. Remove it instead.", true);
    return this.words(span, side, piece);
  }

  // Let the words of a span begin or end with a piece.
  words(span, side, piece) {
    return this.view.change(() => {
      const start = side === "start" ? piece.start : span.start, end = side === "end" ? piece.end : span.end;
      this.text.spans = this.text.spans.filter(other => other !== span);
      const key = this.view.put(this.text, start, end, span.type);
      return key;
    });
  }

  // Put an edge of an interval at a time. Beyond the words and their margin, the time itself is muted.
  set(span, side, seconds) {
    const at = Math.min(Math.max(0, seconds), this.told.seconds), [start, end] = this.time(span), times = side === "start" ? [at, end] : [start, at];
    if (times[1] - times[0] < 0.05) return say("An interval has at least 0.05 seconds. Remove it instead.", true);
    if (span.box) {
      return this.view.change(() => {
        span.box = { ...span.box, [side]: Math.round(at * 1000) / 1000 };
        return span.key;
      });
    }
    const found = this.under(...times);
    if (!found) return say("An interval of words keeps at least one word. Remove it instead.", true);
    return this.view.change(() => {
      this.text.spans = this.text.spans.filter(other => other !== span);
      const key = this.view.put(this.text, ...found, span.type), put = this.text.spans.find(each => each.key === key), now = this.time(put);
      if (side === "start" ? at < now[0] - 0.02 : at > now[1] + 0.02) this.mute(side === "start" ? [at, now[0]] : [now[1], at], span.type);
      return key;
    });
  }

  // Show an interval that keys move: after the current one, else in the middle of what is seen.
  start() {
    const time = this.view.current && this.time(this.view.current), at = time ? time[1] : this.from + this.wide / 2;
    this.put(at, Math.min(this.told.seconds, at + 0.5));
    this.pencil.focus();
    say("Arrow keys move the interval, with Shift they size it. Enter sets it.");
  }

  put(one, two) {
    const start = Math.min(Math.max(0, Math.min(one, two)), this.told.seconds - 0.05), end = Math.min(Math.max(start + 0.05, Math.max(one, two)), this.told.seconds);
    this.drawn = [start, end].map(each => Math.round(each * 1000) / 1000);
    if (start < this.from || end > this.from + this.wide) this.look(start - this.wide / 3);
    this.frame.setAttribute("x", this.x(start));
    this.frame.setAttribute("width", (end - start) * this.scale);
    if (!this.pencil.isConnected) this.over.append(this.pencil);
  }

  cancel() {
    Object.assign(this, { drawn: null, drag: null });
    this.pencil.remove();
  }

  penned(event) {
    if (!this.drawn || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key], [start, end] = this.drawn;
    if (step) {
      this.put(event.shiftKey ? start : Math.max(0, start + step), Math.max(start + 0.05, end + step));
      const found = this.under(...this.drawn), [from, to] = this.drawn;
      say(`${clock(from)} to ${clock(to)}${found ? `, over “${this.text.base.slice(...found)}”` : ", over no words"}.`);
    } else if (event.key === "Enter") this.finish(event.shiftKey);
    else if (event.key === "Escape") {
      this.cancel();
      this.sheet.focus();
      say("No interval was added.");
    } else if (event.key === " ") this.play(false, this.drawn);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // The words in the new interval become a span. If there are none, or for all of it, its time is muted.
  finish(whole) {
    const times = this.drawn, found = this.under(...times), type = this.view.type.value;
    this.cancel();
    this.view.onPage = true;
    this.view.change(() => {
      const key = found && this.view.put(this.text, ...found, type);
      return found && !whole ? key : this.mute(times, type);
    });
  }

  // Add a span for a part without words. Return its key.
  mute([start, end], type) {
    this.text.spans.push(boxSpan(this.text, { start, end, type }));
    return this.text.spans.at(-1).key;
  }

  // The mouse: a click takes an interval, an edge of the current one is dragged, elsewhere a new one is drawn.
  at(event) { return this.from + (event.clientX - this.over.getBoundingClientRect().left) / this.scale; }

  down(event) {
    if (event.button || !event.isPrimary) return;
    const at = this.at(event), { current } = this.view, near = EDGE / this.scale, time = current && this.time(current);
    const side = time && (Math.abs(at - time[0]) < near ? "start" : Math.abs(at - time[1]) < near ? "end" : null);
    this.drag = { x: event.clientX, at, side, span: current, place: event.target.closest("g[role=button]"), moved: false };
  }

  dragged(event) {
    if (!this.drag || !event.buttons || !this.view.waits) return;
    if (!this.drag.moved && Math.abs(event.clientX - this.drag.x) < MOVED) return;
    if (!this.drag.moved) this.over.setPointerCapture(event.pointerId);
    this.drag.moved = true;
    const { side, span, at } = this.drag, now = Math.min(Math.max(0, this.at(event)), this.told.seconds);
    if (side) this.put(...side === "start" ? [now, this.time(span)[1]] : [this.time(span)[0], now]);
    else this.put(at, now);
  }

  up(event) {
    const { moved, side, span, place } = this.drag || {}, at = this.at(event);
    this.drag = null;
    if (!moved) return place?.focus({ preventScroll: true });
    if (!side) return this.finish(event.shiftKey);
    this.cancel();
    this.set(span, side, at);
    return undefined;
  }

  // Play the original around the current span or some times, with the intervals silent if `isMuted`, or stop.
  async play(isMuted, times = null) {
    if (this.playing) return this.stop();
    const time = times || (this.view.current && this.time(this.view.current)) || [this.from + AROUND, this.from + this.wide - AROUND];
    const start = Math.max(0, time[0] - AROUND), end = Math.min(this.told.seconds, time[1] + AROUND, start + MOST);
    const playing = this.playing = { context: new AudioContext() };
    try {
      const { wav } = await ask("GET", `/v1/review/${this.view.id}/sound/part?start=${start.toFixed(3)}&end=${end.toFixed(3)}`);
      const sound = await playing.context.decodeAudioData(Uint8Array.from(atob(wav), each => each.charCodeAt(0)).buffer);
      if (this.playing !== playing) return undefined;
      if (isMuted) {
        for (const [from, to] of this.muted) {
          const [first, last] = [from, to].map(each => Math.round((each - start) * sound.sampleRate));
          if (last > 0 && first < sound.length) sound.getChannelData(0).fill(0, Math.max(0, first), last);
        }
      }
      const source = playing.context.createBufferSource(), begun = playing.context.currentTime;
      Object.assign(source, { buffer: sound, onended: () => this.playing === playing && this.stop() });
      source.connect(playing.context.destination);
      source.start();
      const draw = () => {
        if (this.playing !== playing) return;
        const x = this.x(start + playing.context.currentTime - begun);
        for (const name of ["x1", "x2"]) this.head.setAttribute(name, x);
        this.head.setAttribute("visibility", "visible");
        requestAnimationFrame(draw);
      };
      draw();
      this.view.listening.signal.addEventListener("abort", () => this.playing === playing && this.stop());
    } catch (error) {
      this.stop();
      throw error;
    }
    return undefined;
  }

  stop() {
    this.playing.context.close();
    this.playing = null;
    this.head.setAttribute("visibility", "hidden");
  }
}

// Ask for the waveform of a record, and put it above its text.
export const openSound = async view => {
  say("The recording is being opened …");
  const told = await ask("GET", `/v1/review/${view.id}/sound`);
  say("");
  if (view.listening.signal.aborted) return;
  const at = view.texts.findIndex(text => text.field === told.field);
  if (at < 0) return;
  view.sheets = view.texts.map((text, number) => number === at ? new Sound(view, text, told) : null);
  view.panels[at].closest(".pair").before(view.sheets[at].place);
  view.draw(view.current?.key);
};
