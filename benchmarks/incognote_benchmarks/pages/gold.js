// Returns the boxes of the page, its identifiers, its other words, and its regions, in CSS pixels, as JSON.
(() => {
  const page = document.querySelector("#page");
  const box = (r) => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY];
  const shows = (r) => r.width > 0.5 && r.height > 0.5;
  const rects = (range) => [...range.getClientRects()].filter(shows).map(box);
  const shapes = new Set(["SIGNATURE", "FACE", "BARCODE", "LOGO"]);
  const of = (e) => {
    if (e.ownerSVGElement || e instanceof SVGSVGElement || shapes.has(e.dataset.phi)) return [e.getBoundingClientRect()].filter(shows).map(box);
    const range = document.createRange();
    range.selectNodeContents(e);
    const words = e.textContent.trim() ? rects(range) : [];
    return words.length ? words : [e.getBoundingClientRect()].filter(shows).map(box);
  };
  const identifiers = [...page.querySelectorAll("[data-phi]")].map((e) => {
    const outer = e.parentElement.closest("[data-phi]");
    const drawn = e.closest("[data-ink]");
    return {
      type: e.dataset.phi, ink: drawn ? drawn.dataset.ink : "print", inner: !!outer,
      text: e.textContent.trim().replace(/\s+/g, " "), boxes: of(e),
    };
  }).filter((each) => each.boxes.length);
  const words = [];
  const walk = document.createTreeWalker(page, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, parent = node.parentElement;
    if (!parent || parent.closest("[data-phi], style, script, title") || getComputedStyle(parent).visibility === "hidden") continue;
    for (const found of node.data.matchAll(/\S+/g)) {
      const range = document.createRange();
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      const boxes = rects(range);
      if (boxes.length) words.push({text: found[0], boxes});
    }
  }
  const regions = [...page.querySelectorAll("[data-region]")].map((e) => ({
    type: e.dataset.region, boxes: [box(e.getBoundingClientRect())],
  })).filter((each) => shows({width: each.boxes[0][2] - each.boxes[0][0], height: each.boxes[0][3] - each.boxes[0][1]}));
  const r = page.getBoundingClientRect();
  return JSON.stringify({
    page: {x: r.left + scrollX, y: r.top + scrollY, width: r.width, height: r.height}, identifiers, words, regions,
  });
})()
