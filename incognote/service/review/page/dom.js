// Elements without markup: what comes from a record is only ever a text node.

export const el = (tag, props = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(child => child !== null && child !== undefined));
  return made;
};

export const say = (text, bad = false) => {
  const place = document.getElementById("said");
  place.textContent = text;
  place.classList.toggle("bad", bad);
};

export const show = (...children) => {
  const main = document.getElementById("main");
  main.replaceChildren(...children.filter(child => child !== null && child !== undefined));
  main.focus({ preventScroll: true });
};

// A question with Yes and No -> whether the answer was Yes.
export const sure = (title, says) => new Promise(done => {
  const dialog = document.getElementById("sure");
  document.getElementById("sure-title").textContent = title;
  document.getElementById("sure-says").textContent = says;
  dialog.returnValue = "no";
  dialog.addEventListener("close", () => done(dialog.returnValue === "yes"), { once: true });
  dialog.showModal();
});

export const table = (heads, rows, label) => el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
  el("table", {},
    el("thead", {}, el("tr", {}, ...heads.map(head => el("th", { scope: "col" }, head)))),
    el("tbody", {}, ...rows.map(row => el("tr", {}, ...row.map(cell => el("td", {}, cell)))))));
