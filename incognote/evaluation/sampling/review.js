
(() => {
  "use strict";
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = id => document.getElementById(id);
  const pre = $("text"), store = `${data.kind}-${data.set}`;
  const decisions = restored();  // id -> {done, spans: [[start, end, type]]}; offsets in code points, no words
  let at = Math.max(0, data.items.findIndex(item => !(decisions[item.id] || {}).done));
  let words = [], from = -1, to = -1;  // the word selection of the keyboard
  let read = false;  // whether the end of this text has been on the screen
  const main = document.querySelector("main");

  function restored() {
    try { return JSON.parse(localStorage.getItem(store)) || {}; } catch { return {}; }
  }
  function keep() {
    try { localStorage.setItem(store, JSON.stringify(decisions)); }
    catch { $("state").textContent = "This browser stores nothing. Save before you close the page."; }
  }
  const item = () => data.items[at];
  const own = () => decisions[item().id] ||= { done: false, spans: [] };
  const points = offset => Array.from(item().text.slice(0, offset)).length;
  const units = point => Array.from(item().text).slice(0, point).join("").length;
  // pictures for what a browser does not show; one for one, so that offsets stand
  const visible = text => text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)));

  function show() {
    const { id, text } = item(), { spans, done } = own(), shown = visible(text);
    pre.replaceChildren();
    let last = 0;
    for (const [start, end, type] of [...spans].sort((a, b) => a[0] - b[0])) {
      const [s, e] = [units(start), units(end)];
      if (s > last) pre.append(shown.slice(last, s));
      const mark = document.createElement("mark");
      mark.textContent = shown.slice(s, e);
      mark.dataset.type = type;
      pre.append(mark);
      last = e;
    }
    pre.append(shown.slice(last));
    words = [...shown.matchAll(/[\p{L}\p{N}](?:\S*[\p{L}\p{N}])?/gu)].map(found => [found.index, found.index + found[0].length]);
    $("place").textContent = `${at + 1} of ${data.items.length}`;
    $("id").textContent = id;
    $("marks").replaceChildren(...spans.map(([start, end, type]) => {
      const row = document.createElement("li");
      row.textContent = `${type} ${start}–${end}`;
      return row;
    }));
    const state = $("state");
    state.className = done ? (spans.length ? "leak" : "none") : "";
    state.textContent = done ? (spans.length ? "Decided: leak" : "Decided: no leak") : "Not decided";
    offer();
    $("undo").disabled = !spans.length;
    $("back").disabled = !at;
    const decided = data.items.filter(one => (decisions[one.id] || {}).done).length;
    $("progress").max = data.items.length;
    $("progress").value = decided;
    $("count").textContent = `${decided} of ${data.items.length} decided`;
    $("open").disabled = decided === data.items.length;
    $("download").classList.toggle("main", decided === data.items.length);
  }

  /** What Enter does: nothing is decided before its end was seen. */
  function offer() {
    const { spans, done } = own(), go = $("done"), key = document.createElement("kbd");
    read ||= done || main.scrollTop + main.clientHeight >= main.scrollHeight - 8;
    key.textContent = "Enter";
    go.replaceChildren(key, !read ? " Scroll down" : spans.length ? ` Leak (${spans.length}), next` : " No leak, next");
    go.classList.toggle("leak", read && spans.length > 0);
  }

  function turn(to_) {
    at = Math.min(Math.max(to_, 0), data.items.length - 1);
    from = to = -1;
    getSelection().removeAllRanges();
    main.scrollTop = 0;
    read = false;
    show();
  }

  /** The selection in UTF-16 units of the text, without blanks at its ends; null for none. */
  function selected() {
    const chosen = getSelection();
    if (!chosen.rangeCount || chosen.isCollapsed) return null;
    const range = chosen.getRangeAt(0);
    if (!pre.contains(range.startContainer) || !pre.contains(range.endContainer)) return null;
    const before = document.createRange();
    before.selectNodeContents(pre);
    before.setEnd(range.startContainer, range.startOffset);
    let start = before.toString().length, end = start + range.toString().length;
    const text = item().text;
    while (start < end && /\s/.test(text[start])) start++;
    while (end > start && /\s/.test(text[end - 1])) end--;
    return start < end ? [start, end] : null;
  }

  function select(start, end) {
    const range = document.createRange(), walk = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
    let passed = 0, begun = false;
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const length = node.data.length;
      if (!begun && start < passed + length) { range.setStart(node, start - passed); begun = true; }
      if (begun && end <= passed + length) { range.setEnd(node, end - passed); break; }
      passed += length;
    }
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    const box = range.getBoundingClientRect(), seen = main.getBoundingClientRect();
    if (box.top < seen.top || box.bottom > seen.bottom) main.scrollTop += box.top - seen.top - seen.height / 3;
  }

  function word(step, more) {
    if (!words.length) return;
    to = Math.min(Math.max(to + step, 0), words.length - 1);
    if (!more || from < 0) from = to;
    select(words[Math.min(from, to)][0], words[Math.max(from, to)][1]);
  }

  function mark(type) {
    const found = selected();
    if (!found) { $("state").textContent = "Select the words first."; return; }
    const [start, end] = found.map(points), mine = own();
    mine.spans = mine.spans.filter(span => span[1] <= start || end <= span[0]);  // a new mark replaces what it overlaps
    mine.spans.push([start, end, type]);
    mine.done = false;
    keep();
    getSelection().removeAllRanges();
    show();
  }

  function undo() {
    const mine = own();
    if (!mine.spans.length) return;
    mine.spans.pop();
    mine.done = false;
    keep();
    show();
  }

  function done() {
    if (!read) { main.scrollTop += main.clientHeight - 60; offer(); return; }
    own().done = true;
    keep();
    if (at + 1 < data.items.length) turn(at + 1); else show();
  }

  function open() {
    const order = data.items.map((_, i) => (at + 1 + i) % data.items.length);
    const next = order.find(i => !(decisions[data.items[i].id] || {}).done);
    if (next !== undefined) turn(next);
  }

  function save() {
    const told = {};
    for (const { id } of data.items) {
      const mine = decisions[id];
      if (mine && mine.done) told[id] = [...mine.spans].sort((a, b) => a[0] - b[0]);
    }
    const whole = { kind: data.kind, set: data.set, reviewer: data.reviewer, decisions: told };
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([JSON.stringify(whole, null, 1)], { type: "application/json" }));
    link.download = `decisions-${data.reviewer}.json`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  $("reviewer").textContent = data.reviewer;
  $("types").append(...data.types.map((type, number) => {
    const button = document.createElement("button"), key = document.createElement("kbd");
    key.textContent = number + 1;
    button.type = "button";
    button.append(key, ` ${type}`);
    button.addEventListener("pointerdown", event => event.preventDefault());  // the selection stays
    button.addEventListener("click", () => mark(type));
    return button;
  }));
  $("back").addEventListener("click", () => turn(at - 1));
  $("undo").addEventListener("click", undo);
  $("open").addEventListener("click", open);
  $("done").addEventListener("click", done);
  $("download").addEventListener("click", save);
  main.addEventListener("scroll", offer);
  addEventListener("resize", offer);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key, onButton = event.target.closest("button, summary");
    if (key === "Enter" && onButton) return;
    const acts = { Enter: done, j: () => turn(at + 1), k: () => turn(at - 1), u: undo, g: open, s: save,
      ArrowRight: () => word(1, event.shiftKey), ArrowLeft: () => word(-1, event.shiftKey) };
    const type = /^[1-9]$/.test(key) ? data.types[key - 1] : undefined;
    const act = type ? () => mark(type) : acts[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  show();
})();
