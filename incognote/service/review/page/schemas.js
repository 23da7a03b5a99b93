// Record schemas: which wait for approval, their fields, what samples say of them.

import { ask } from "./api.js";
import { el, say, show, sure, table } from "./dom.js";

export const schemas = async () => {
  const found = await ask("GET", "/v1/schemas");
  const own = found.filter(one => !one.shipped), shipped = found.filter(one => one.shipped);
  const line = one => el("li", {}, el("a", { href: `#schema/${one.data_type}` },
    el("b", {}, one.data_type), el("span", { class: "badge" }, one.state), el("span", {}, one.by && `by ${one.by}`),
    el("span", { class: "soft" }, one.problems ? `${one.problems} open` : "")));
  show(el("h2", {}, "Record schemas"),
    own.length ? el("ul", { class: "lines" }, ...own.map(line)) : el("p", {}, "No schema folder is configured. Set `schemas` in the settings."),
    el("details", {}, el("summary", {}, `Shipped with incognote (${shipped.length})`), el("ul", { class: "lines" }, ...shipped.map(line))));
};

const read = async file => {
  const text = await file.text();
  try {
    const whole = JSON.parse(text);
    return Array.isArray(whole) ? whole : [whole];
  } catch {
    return text.split("\n").filter(line => line.trim()).map(line => JSON.parse(line));
  }
};

export const schema = async (name, me) => {
  const told = await ask("GET", `/v1/schemas/${encodeURIComponent(name)}`);
  const rows = (statistics = new Map()) => told.fields.map(field => {
    const said = statistics.get(field.path);
    const base = [field.path, field.types, field.flag, field.entity_type, field.known_as, field.about];
    if (!statistics.size) return base;
    if (!said) return [...base, "not in the samples"];
    const hits = Object.entries(said.hits).map(([type, count]) => `${type} in ${count} of ${said.looked_at}`).join(", ");
    return [...base, `${said.kind}, filled ${Math.round(100 * said.filled)}%, ${said.distinct} distinct, longest ${said.longest}${hits && `; ${hits}`}`];
  });
  const heads = ["field", "type", "what happens", "as", "also searched for as", "about"];
  const place = el("div", {}, table(heads, rows(), "Fields"));
  const samples = el("input", { type: "file", accept: ".json,.jsonl,.ndjson", onchange: async () => {
    try {
      const records = (await read(samples.files[0])).slice(0, 10000);
      const found = await ask("POST", `/v1/schemas/${encodeURIComponent(name)}/statistics`, { records });
      place.replaceChildren(table([...heads, "in the samples"], rows(new Map(found.map(one => [one.path, one]))), "Fields"));
      say(`${records.length} sample records were read. None is kept.`);
    } catch (error) {
      say(error.message, true);
    }
  } });
  const open = told.schema.state !== "approved";
  const approve = el("button", { id: "approve-schema", class: "go", disabled: !me.roles.includes("approve") || told.problems.length > 0, onclick: async () => {
    if (!await sure(`Approve ${name}?`, `You confirm, as ${me.name}, that you read every field of version ${told.schema.version}.`)) return;
    try {
      await ask("POST", `/v1/schemas/${encodeURIComponent(name)}/approval`, { version: told.schema.version });
      say(`${name} is approved.`);
      await schema(name, me);
    } catch (error) {
      say(error.message, true);
    }
  } }, "Approve this schema");
  show(el("h2", {}, `${name} `, el("span", { class: "badge" }, told.schema.state)),
    el("dl", {}, el("dt", {}, "version"), el("dd", {}, told.schema.version || "–"),
      ...told.schema.by ? [el("dt", {}, "approved by"), el("dd", {}, `${told.schema.by}, ${told.schema.at}`)] : []),
    told.problems.length ? el("ul", { class: "warn" }, ...told.problems.map(problem => el("li", {}, problem))) : null,
    el("p", {}, el("label", {}, "Check with sample records ", samples)), place,
    open ? el("div", { class: "bar" }, approve) : null, el("p", {}, el("a", { href: "#schemas" }, "All schemas")));
};
