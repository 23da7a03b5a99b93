(() => {
  for (const browser of document.querySelectorAll(".browser")) {
    const items = [...browser.querySelectorAll("li[data-type]")];
    const selects = [...browser.querySelectorAll("select")];
    const output = browser.querySelector("output");
    let shown = items;
    const apply = () => {
      const wanted = Object.fromEntries(selects.map(select => [select.name, select.value]));
      shown = items.filter(item =>
        (!wanted.kind || item.dataset.kind === wanted.kind) &&
        (!wanted.type || item.dataset.type === wanted.type) &&
        (!wanted.system || item.dataset.systems.split(" ").includes(wanted.system)));
      const kept = new Set(shown);
      for (const item of items) item.hidden = !kept.has(item);
      output.textContent = shown.length + " of " + items.length + " shown";
    };
    const go = step => {
      if (!shown.length) return;
      const at = shown.indexOf(document.activeElement);
      const next = at < 0 ? (step > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + step, 0), shown.length - 1);
      shown[next].focus();
      shown[next].scrollIntoView({ block: "center" });
    };
    for (const select of selects) select.addEventListener("change", apply);
    browser.addEventListener("keydown", event => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
      if (event.key === "j" || event.key === "ArrowDown") go(1);
      else if (event.key === "k" || event.key === "ArrowUp") go(-1);
      else return;
      event.preventDefault();
    });
    apply();
  }
})();
