// Data, elements, numbers, downloads: what every other file uses.

const DATA = JSON.parse(document.getElementById("report-data").textContent);
const REGULATORS = DATA.regulators;
const ANY_KNOWN = REGULATORS.some(({ known }) => known);

/** One element by its id. */
const byId = (id) => document.getElementById(id);

/** An element; strings become text nodes, so nothing from the data is ever read as html. */
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A button; `label` is for screen readers where the text alone says too little. */
const button = (text, className, onclick, label) =>
  h("button", { type: "button", class: className, "aria-label": label, onclick }, text);

const count = (n) => n.toLocaleString("en");
const plural = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const percent = (x, digits = 0) => `${(100 * x).toFixed(digits)}%`;
const sum = (values) => values.reduce((total, value) => total + value, 0);
const mean = (values) => (values.length ? sum(values) / values.length : 0);

/** At most three digits that matter; a true minus sign. */
function number(x) {
  if (x === null || x === undefined) return "–";
  const size = Math.abs(x);
  if (size === 0) return "0"; // also for -0
  if (size < 1e-3 || size >= 1e6) return power(x);
  const text = Number.isInteger(x) ? count(x) : String(Number(x.toPrecision(3)));
  return text.replace("-", "\u2212");
}

/** 3.1e-12 as 3 × 10⁻¹². */
function power(x) {
  const [digits, exponent] = x.toExponential(0).split("e");
  const raised = [...String(Number(exponent))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]));
  return `${digits.replace("-", "\u2212")}\u00a0×\u00a010${raised.join("")}`;
}

/** A p-value or q-value. */
function chance(p) {
  if (p === null || p === undefined) return "–";
  return p < 1e-3 ? power(p) : p.toFixed(3);
}

/** The same for a narrow column: 3e−12. */
const chanceShort = (p) =>
  p < 1e-3 && p !== null ? p.toExponential(0).replace("-", "\u2212") : chance(p);

/** "set_size" as "set size". */
const words = (name) => name.replaceAll("_", " ");

/** The same as a heading. */
const titled = (name) => words(name).replace(/^./, (first) => first.toUpperCase());

function cellText(value) {
  if (typeof value === "number") return number(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "–" : value;
}

/** Tab-separated text; tabs and line ends inside a cell become spaces. */
function tsv(columns, rows) {
  const clean = (cell) => String(cell ?? "").replace(/[\t\r\n]+/g, " ");
  return [columns, ...rows].map((row) => row.map(clean).join("\t")).join("\n") + "\n";
}

function download(name, content, type = "text/tab-separated-values") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A button that writes a table to disk; the table is made only when asked for. */
function downloadButton(name, table) {
  const save = () => {
    const { columns, rows } = table();
    download(name, tsv(columns, rows));
  };
  return button(`↓ ${name}`, "file", save);
}

/** A safe file name from a regulator's name. */
const fileName = (text) => text.replace(/[^\w.-]+/g, "_").slice(0, 60) || "regulator";

/** Smallest and largest; loops, since a call cannot take as many arguments as there are genes. */
function range(values) {
  return values.reduce(
    ([low, high], x) => [Math.min(low, x), Math.max(high, x)],
    [Infinity, -Infinity],
  );
}

/** A part that is made when it is first opened. */
function onOpen(text, make, className = "later") {
  const element = h("details", { class: className }, h("summary", {}, text));
  element.addEventListener("toggle", () => element.append(make()), { once: true });
  return element;
}

/** The value of a colour of the style sheet, in the theme of the moment. */
const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// One tooltip for all drawings.
const tip = byId("tip");
function showTip(event, text) {
  tip.textContent = text;
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, window.innerWidth - width - 8);
  const y = event.clientY - height - 10;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${y < 8 ? event.clientY + 18 : y}px`;
}
function hideTip() {
  tip.hidden = true;
}

/** Regulators of each variable: gene -> [[regulator, place among its targets], ...]. */
const REGULATORS_OF = DATA.genes.map(() => []);
REGULATORS.forEach((regulator, r) =>
  regulator.targets.forEach((gene, place) => REGULATORS_OF[gene].push([r, place])),
);

/** An enriched term in words: its description if it has one. */
function termName(terms, row) {
  const described = terms.columns.indexOf("description");
  return (described >= 0 && row[described]) || row[terms.columns.indexOf("set")];
}

/** The page of a variable elsewhere, or null; names are percent-encoded, never part of the host. */
function geneAddress(gene) {
  if (!/^https?:\/\//.test(DATA.link)) return null;
  const parts = { "{id}": DATA.genes[gene], "{name}": DATA.gene_labels[gene] };
  return DATA.link.replace(/\{id\}|\{name\}/g, (part) => encodeURIComponent(parts[part]));
}

/** A link to the page of a variable elsewhere, or null. */
function outLink(gene, text) {
  const href = geneAddress(gene);
  if (!href) return null;
  const label = `${DATA.gene_labels[gene]} elsewhere, in a new tab`;
  return h(
    "a",
    { class: "out", href, target: "_blank", rel: "noopener noreferrer", "aria-label": label },
    text,
  );
}

/** What a column of annotation says about a variable, or null. */
const annotated = (column, gene) => column.levels[column.codes[gene]] ?? null;

/** "Fur (rcweb3)", or the id alone. */
const fullName = (regulator) =>
  regulator.label === regulator.id ? regulator.id : `${regulator.label} (${regulator.id})`;
