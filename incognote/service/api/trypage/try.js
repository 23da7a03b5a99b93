// The try page. What comes from a note is only ever a text node, and is kept nowhere but in this page.

const KEY = "incognote-key"; // the access key, shared with the review page in this tab
const EXAMPLE = `Discharge Summary, Fairhollow Community Hospital
Patient: Marguerite Oyelaran   MRN: 4471902   DOB: 04/17/1951
Admitted: 03/02/2024   Attending: Tobias Lindqvist, MD

Mrs. Oyelaran is a 72-year-old retired schoolteacher from Millbrook who came in with three days of fever and a \
productive cough. Chest film showed a right lower lobe infiltrate. She received ceftriaxone 1 g IV q24h. Her daughter \
Adaeze will call Dr. Lindqvist at 617-555-0142 or write to m.oyelaran@example.org if the fever returns.
`;
const VERDICTS = {
  release: ["Released", "All checks of the policy passed. This does not prove that no identifier is left. Read the result before you share it."],
  review: ["Held for review", "A person must decide about this record, so its result is not shown:"],
  quarantine: ["Quarantined", "This record cannot be released, so its result is not shown:"],
};
const STATES = { replaced: "", kept: "kept by the policy", doubt: "doubtful, not replaced", dropped: "not confirmed by the language model, not replaced" };

const $ = id => document.getElementById(id);
const note = $("note"), picker = $("file"), card = $("card");
let choices = null, file = null;

const el = (tag, props = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter(child => child !== null && child !== undefined && child !== ""));
  return made;
};

// Words between backticks as code.
const rich = text => text.split("`").map((part, i) => i % 2 ? el("code", {}, part) : part);

const ask = async (method, body) => {
  const headers = { "Content-Type": "application/json" }, key = sessionStorage.getItem(KEY);
  if (key) headers.Authorization = `Bearer ${key}`;
  const options = { method, headers, body: body && JSON.stringify(body), cache: "no-store", credentials: "omit", redirect: "error" };
  let response;
  try {
    response = await fetch("/v1/try", options);
  } catch {
    throw new Error("The server does not answer. Check that `incognote serve` is still running, then try again.");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  const faults = (answer.faults || []).map(fault => `${fault.at}: ${fault.says}`).join("; ");
  const sentence = text => text && text[0].toUpperCase() + text.slice(1) + (/[.!?`]$/.test(text) ? "" : ".");
  throw Object.assign(new Error(sentence([answer.detail || `Status ${response.status}`, faults].filter(Boolean).join(" – "))), { status: response.status });
};

// Access

const login = said => {
  const dialog = $("login");
  $("login-said").textContent = said || "";
  if (dialog.open) return;
  dialog.showModal();
  dialog.addEventListener("close", () => {
    const key = $("key").value.trim();
    $("key").value = "";
    if (!key) return login("Enter a key to continue.");
    sessionStorage.setItem(KEY, key);
    return enter();
  }, { once: true });
};

const refused = error => {
  if (![401, 403].includes(error.status)) return false;
  const given = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  login(error.status === 403 || given ? error.message : "");
  return true;
};

const enter = async () => {
  try {
    choices = await ask("GET");
  } catch (error) {
    return refused(error) || fail(error.message);
  }
  for (const name of ["policy", "detectors"]) {
    const list = choices[name === "policy" ? "policies" : name], select = $(name);
    const about = () => { $(`${name}-about`).textContent = list[select.selectedIndex].about; };
    select.replaceChildren(...list.map((each, i) => el("option", { value: each.name }, each.name + (i ? "" : " (configured)"))));
    select.onchange = about;
    about();
  }
  $("limits").textContent = `Text, JSON, FHIR, JSON Lines, CSV, TSV, or a document such as DOCX, XLSX, or PDF. Up to ${Math.round(choices.most_bytes / 1000)} KB and ${choices.most_records} records. Images, PDF, and recordings: up to ${choices.most_page_bytes / 1000000} MB; of a scan, up to ${choices.most_pages} pages, and of a recording, up to ${choices.most_seconds} seconds.`;
  note.focus();
};

// Input

const choose = chosen => {
  file = chosen || null;
  if (file !== picker.files[0]) picker.value = "";
  $("chosen").hidden = !file;
  note.disabled = Boolean(file);
  $("chosen-name").textContent = file ? `${file.name} (${Math.max(1, Math.round(file.size / 1000)).toLocaleString("en")} KB)` : "";
  if (file) $("go").focus();
};

const read = () => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => failed(new Error("The browser cannot read this file. Choose it again."));
  reader.readAsDataURL(file);
});

const submit = async event => {
  event?.preventDefault();
  if (!choices || $("go").disabled) return;
  if (!file && !note.value.trim()) return fail("There is no text. Paste a note, choose a file or use the example.");
  const size = file ? file.size : new Blob([note.value]).size, isSound = /^\.(wave?|flac|mp3|m4a|og[ga]|opus|web[am])$/i.test(suffix());
  const isPaged = isSound || /^\.(pdf|png|jpe?g?|tiff?|bmp|gif|webp)$/i.test(suffix());
  const most = isPaged ? choices.most_page_bytes : choices.most_bytes;
  if (size > most) return fail(`This page reads up to ${most.toLocaleString("en")} bytes. Use \`incognote deid FILE\` for larger files.`);
  hide();
  $("go").disabled = true;
  $("result").replaceChildren();
  $("verdict").replaceChildren(el("p", { class: "soft" }, isSound ? "Listening. This can take a minute …" : isPaged ? "Reading the pages. This can take a minute …" : "Reading …"));
  try {
    const asked = { policy: $("policy").value, detectors: $("detectors").value };
    // Of the file's name only the suffix is sent.
    Object.assign(asked, file ? { file: await read(), suffix: suffix() } : { text: note.value });
    show(await ask("POST", asked));
    $("verdict").scrollIntoView({ block: "nearest" });
  } catch (error) {
    if (refused(error)) $("verdict").replaceChildren();
    else fail(error.message);
  } finally {
    $("go").disabled = false;
  }
};

const fail = message => {
  $("result").replaceChildren();
  $("verdict").replaceChildren(el("div", { class: "verdict error" }, el("h2", {}, "Not processed"), el("p", {}, rich(message))));
};

// Result

const why = reasons => el("ul", {}, reasons.map(reason => {
  const place = [reason.means && reason.detail, reason.field && `field ${reason.field}`].filter(Boolean).join(", ");
  return el("li", {}, rich([reason.means || reason.detail || reason.code, place && `(${place})`, reason.next].filter(Boolean).join(" ")), " ", el("code", {}, reason.code));
}));

const summary = answer => {
  const { records } = answer, held = records.filter(record => record.verdict !== "release");
  const worst = held.some(record => record.verdict === "quarantine") ? "quarantine" : held.length ? "review" : "release";
  const [title, says] = VERDICTS[worst];
  if (records.length === 1) {
    return el("div", { class: `verdict ${worst}` }, el("h2", {}, title), el("p", {}, says), held.length ? why(held[0].reasons) : null,
      held.length ? el("p", {}, "This page stores nothing: the record was not added to the review queue or the quarantine.") : null);
  }
  return el("div", { class: `verdict ${worst}` }, el("h2", {}, `${records.length - held.length} of ${records.length} records released`),
    el("p", {}, held.length ? `${held.length} held back. The reasons are given with each record.` : says));
};

const suffix = () => file ? /(\.[A-Za-z0-9]{1,7})?(\.gz)?$/i.exec(file.name)[0] : "";
const address = base64 => URL.createObjectURL(new Blob([Uint8Array.from(atob(base64), c => c.charCodeAt(0))]));

const show = answer => {
  $("verdict").replaceChildren(summary(answer));
  const parts = answer.records.flatMap(record => record.texts || []).flatMap(text => text.parts).filter(part => part.type);
  const groups = new Map(parts.map(part => [part.type, part.group]));
  const total = Object.values(answer.counts).reduce((sum, n) => sum + n, 0), released = answer.records.filter(record => record.verdict === "release").length;
  const copied = el("span", { class: "soft", role: "status" });
  const many = answer.records.length > 1;
  $("result").replaceChildren(
    answer.records.some(record => record.texts) ? el("h2", { id: "found" }, `${total} ${total === 1 ? "identifier" : "identifiers"} found in the text`) : "",
    total ? el("ul", { class: "legend", "aria-labelledby": "found" }, Object.entries(answer.counts).map(([type, n]) => el("li", { class: groups.get(type) }, words(type), el("b", {}, String(n))))) : "",
    parts.length ? el("p", { class: "soft" }, "Point at a span for its type and source, or press Tab and then the arrow keys. Enter moves to the same span on the other side. A dashed frame is a doubt, an underline is kept by the policy, a dotted frame is what the language model did not confirm.") : "",
    answer.remark ? el("p", {}, rich(answer.remark)) : "",
    answer.output ? el("div", { class: "row" }, el("button", { type: "button", id: "copy", onclick: () => copy(answer.output, copied) },
      many ? `Copy ${released} released ${released === 1 ? "record" : "records"}` : "Copy result"), copied) : "",
    answer.file ? el("div", { class: "row" }, el("a", { id: "download", class: "button", download: `deidentified${suffix()}`, href: address(answer.file) }, "Download result")) : "",
    ...answer.records.map((record, i) => article(record, many ? i + 1 : 0, answer.output, answer.file)));
};

const article = (record, number, output, file64) => {
  const released = record.verdict === "release", texts = record.texts || [], fields = record.fields || [];
  const sides = texts.map(text => pair(text, released));
  return el("article", {},
    number ? el("h2", {}, `Record ${number}: ${VERDICTS[record.verdict][0].toLowerCase()}`) : null,
    number && !released ? why(record.reasons) : null,
    (record.pages || []).map((page, i) => el("figure", { class: "pane" }, el("figcaption", {}, `Page ${i + 1} of the result`), el("img", { src: `data:image/png;base64,${page}`, alt: `Page ${i + 1} of the result` }))),
    record.sound ? sound(record.sound, file64) : null,
    sides,
    fields.length ? el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Structured fields" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Structured field", "Original", "Type", "Result"].map(head => el("th", { scope: "col" }, head)))),
      el("tbody", {}, fields.map(field => el("tr", {}, el("td", {}, field.field), el("td", { dir: "auto" }, field.value), el("td", {}, words(field.type || "")), el("td", {}, field.action)))))) : null,
    fields.length && output && !number ? el("details", {}, el("summary", {}, "Complete result"), el("pre", { class: "text pane", tabindex: 0 }, output)) : null);
};

// The waveform of a released recording with its muted parts, and a button that plays it.
const sound = ({ seconds, peaks, muted }, file64) => {
  const svg = (tag, props, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(props)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const wide = 1000, high = 100, most = Math.max(10, ...peaks.slice(0, 30000)), x = at => (at / seconds * wide).toFixed(1);
  const wave = peaks.map((peak, i) => `M${x((i + 0.5) / peaks.length * seconds)} ${high / 2 - Math.max(0.5, peak / most * 46)}v${2 * Math.max(0.5, peak / most * 46)}`).join("");
  const silent = merged(muted).reduce((sum, [start, end]) => sum + end - start, 0), said = el("span", { class: "soft", role: "status" });
  const head = svg("line", { class: "head", y1: 0, y2: high, visibility: "hidden" });
  const picture = svg("svg", { class: "wave", viewBox: `0 0 ${wide} ${high}`, preserveAspectRatio: "none", role: "img", "aria-label": `Waveform of ${seconds.toFixed(1)} seconds, of which ${silent.toFixed(1)} are muted` },
    ...muted.map(({ start, end, type }) => svg("rect", { x: x(start), y: 0, width: x(end - start), height: high }, svg("title", {}, `${words(type)}: ${start.toFixed(2)} to ${end.toFixed(2)} seconds`))),
    svg("path", { d: wave }), head);
  let playing = null;
  const stop = () => { playing?.close(); playing = null; play.textContent = "Play muted sound"; head.setAttribute("visibility", "hidden"); };
  const play = el("button", { type: "button", id: "play", onclick: async () => {
    if (playing) return stop();
    const context = playing = new AudioContext();
    play.textContent = "Stop";
    try {
      const buffer = await context.decodeAudioData(Uint8Array.from(atob(file64), c => c.charCodeAt(0)).buffer), source = context.createBufferSource();
      if (playing !== context) return undefined;
      Object.assign(source, { buffer, onended: () => playing === context && stop() });
      source.connect(context.destination);
      source.start();
      const begun = context.currentTime, draw = () => {
        if (playing !== context) return;
        if (!play.isConnected) return stop();
        for (const name of ["x1", "x2"]) head.setAttribute(name, x(context.currentTime - begun));
        head.setAttribute("visibility", "visible");
        requestAnimationFrame(draw);
      };
      draw();
    } catch {
      stop();
      said.textContent = "The browser cannot play this format. Download the result.";
    }
    return undefined;
  } }, "Play muted sound");
  return el("figure", { class: "pane" }, el("figcaption", {}, `Sound of the result: ${silent.toFixed(1)} of ${seconds.toFixed(1)} seconds are muted`), picture, el("div", { class: "row" }, play, said));
};

// Intervals as [start, end] in order, without overlaps.
const merged = intervals => {
  const found = [];
  for (const { start, end } of [...intervals].sort((one, two) => one.start - two.start)) {
    const last = found.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else found.push([start, end]);
  }
  return found;
};

const pair = (text, released) => {
  const name = text.field ? `: ${text.field}` : "";
  const left = el("div", { class: "text", dir: "auto" }), right = el("div", { class: "text", dir: "auto" });
  const spans = [[], []];
  for (const part of text.parts || []) {
    if (!part.type) { left.append(part.text); right.append(part.text); continue; }
    const pairs = [[left, part.text], [right, part.new ?? part.text]].map(([side, shown], i) => {
      const made = span(part, shown, spans[i]);
      side.append(made);
      return made;
    });
    pairs.forEach((made, i) => { made.twin = released ? pairs[1 - i] : null; });
  }
  if (spans[0].length) for (const list of spans) list[0].tabIndex = 0;
  return el("div", { class: "panes" },
    el("section", { class: "pane original", "aria-label": `Original${name}` }, el("h3", {}, `Original${name}`), left),
    el("section", { class: "pane new", "aria-label": `Result${name}` }, el("h3", {}, `Result${name}`),
      released ? right : el("p", { class: "soft" }, "Not shown, because the record is not released.")));
};

const words = type => type.toLowerCase().replaceAll("_", " ");

const span = (part, shown, list) => {
  const about = [words(part.type), STATES[part.state], `found by ${(part.sources || []).join(", ") || "the policy"}`].filter(Boolean).join(", ");
  const made = el("span", { class: `span ${part.group} ${part.state}`, tabindex: -1, role: "button", "aria-label": `${shown}, ${about}` }, shown);
  list.push(made);
  made.found = part;
  made.addEventListener("mouseenter", () => reveal(made));
  made.addEventListener("mouseleave", hide);
  made.addEventListener("focus", () => reveal(made));
  made.addEventListener("blur", hide);
  made.addEventListener("click", () => move(list, made));
  made.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") hide();
    else if (event.key === "Enter" || event.key === " ") made.twin?.focus();
    else if (step) move(list, list[(list.indexOf(made) + step + list.length) % list.length]);
    else return;
    event.preventDefault();
  });
  return made;
};

const move = (list, to) => {
  for (const each of list) each.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
};

const reveal = made => {
  const part = made.found;
  card.replaceChildren(el("b", {}, words(part.type)), el("p", {}, part.about || ""),
    el("p", {}, `Found by: ${(part.sources || []).join(", ") || "the policy"}`),
    el("p", {}, `Score: ${(part.score || 0).toFixed(2)}`),
    el("p", {}, STATES[part.state] ? `Not replaced: ${STATES[part.state]}` : part.new === undefined ? `Would be replaced (${part.operator})` : `Replaced (${part.operator})`));
  card.hidden = false;
  made.setAttribute("aria-describedby", "card");
  made.twin?.classList.add("twin");
  const place = made.getClientRects()[0], box = card.getBoundingClientRect();
  const above = place.top - box.height - 8;
  card.style.top = `${(above > 0 ? above : place.bottom + 8) + scrollY}px`;
  card.style.left = `${Math.max(4, Math.min(place.left, document.documentElement.clientWidth - box.width - 4)) + scrollX}px`;
};

const hide = () => {
  card.hidden = true;
  for (const each of document.querySelectorAll(".span")) {
    each.classList.remove("twin");
    each.removeAttribute("aria-describedby");
  }
};

const copy = async (text, said) => {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = "Copied.";
  } catch {
    said.textContent = "The browser does not allow copying. Select the result and copy it.";
  }
};

// Start

$("form").addEventListener("submit", submit);
note.addEventListener("keydown", event => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit(event); });
picker.addEventListener("change", () => choose(picker.files[0]));
$("unchoose").addEventListener("click", () => { choose(null); note.focus(); });
$("example").addEventListener("click", () => { choose(null); note.value = EXAMPLE; note.focus(); });
$("clear").addEventListener("click", () => {
  choose(null);
  note.value = "";
  hide();
  for (const id of ["verdict", "result"]) $(id).replaceChildren();
  note.focus();
});
addEventListener("dragover", event => { event.preventDefault(); note.classList.add("over"); });
addEventListener("dragleave", () => note.classList.remove("over"));
addEventListener("drop", event => {
  event.preventDefault();
  note.classList.remove("over");
  const { files } = event.dataTransfer;
  if (files.length === 1) choose(files[0]);
  else if (files.length > 1) fail("Drop one file at a time.");
});
addEventListener("keydown", event => { if (event.key === "Escape") hide(); });

// The token of a server's start comes after the #, which no request holds, and leaves the address at once.
const [name, token] = location.hash.slice(1).split("=");
if (name === "token" && token) {
  sessionStorage.setItem(KEY, token);
  history.replaceState(null, "", location.pathname);
}
enter();
