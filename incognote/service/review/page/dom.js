// Elements without markup: text from a record is only ever a text node.

export const el = (tag, props = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
};

let clears;

// A message to the user. An error stays until the next message.
export const say = (text, bad = false) => {
  const place = document.getElementById("said");
  place.textContent = text;
  place.classList.toggle("bad", bad);
  clearTimeout(clears);
  if (text && !bad) clears = setTimeout(() => { place.textContent = ""; }, 10000);
};

export const show = (...children) => {
  const main = document.getElementById("main");
  main.replaceChildren(...children.filter(child => child !== null && child !== undefined));
  main.focus({ preventScroll: true });
};

// A question with Yes and No -> whether the answer was Yes.
export const sure = (title, ...says) => new Promise(done => {
  const dialog = document.getElementById("sure");
  document.getElementById("sure-title").textContent = title;
  document.getElementById("sure-says").replaceChildren(...says.filter(Boolean).map(each => typeof each === "string" ? el("p", {}, each) : each));
  dialog.returnValue = "no";
  dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
  dialog.showModal();
});

export const select = (props, options, chosen) => el("select", props,
  ...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text)));

export const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

export const table = (heads, rows, label) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
  el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map(head => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map(row => el("tr", {}, ...row.map(cell => el("td", {}, cell)))))));
