// Everything about one regulator.

/** A part of the page with a small heading. */
const part = (title, ...content) => h("section", { class: "part" }, h("h4", {}, title), ...content);

function detailView(r, actions) {
  const regulator = REGULATORS[r];
  return [
    detailHeader(regulator, r, actions),
    activityPart(regulator),
    h(
      "div",
      { class: "pair" },
      knownPart(regulator),
      part(
        "Weights",
        regulator.weights.length ? figure((width) => histogram(regulator, width)) : h("p", {}, "No targets."),
        h("p", { class: "note" }, weightNote(regulator)),
      ),
    ),
    targetsPart(regulator, r, actions),
    termsPart(regulator),
    diagnosisPart(regulator),
  ];
}

function detailHeader(regulator, r, { open, showInNetwork }) {
  const step = (to, text, label) =>
    h(
      "button",
      { type: "button", class: "quiet", disabled: !REGULATORS[to], "aria-label": label, onclick: () => open(to) },
      text,
    );
  return h(
    "header",
    { class: "detail-head" },
    h(
      "div",
      {},
      h("h3", { id: "detail-title" }, regulator.label, " ", regulator.label === regulator.id ? null : h("small", {}, regulator.id)),
      regulator.known?.description ? h("p", { class: "note" }, regulator.known.description) : null,
    ),
    h(
      "div",
      { class: "buttons" },
      h("button", { type: "button", class: "quiet", onclick: () => showInNetwork(r) }, "Show in network"),
      step(r - 1, "←", "Previous regulator"),
      step(r + 1, "→", "Next regulator"),
    ),
  );
}

let sampleOrdering = DATA.groups.length ? "group" : "table";

function activityPart(regulator) {
  const holder = h("div");
  const draw = () =>
    holder.replaceChildren(figure((width) => activityChart(regulator, sampleOrdering, width)));
  const choices = [
    ["table", "as in the table"],
    ...(DATA.groups.length ? [["group", "by group"]] : []),
    ["activity", "by activity"],
  ];
  const choose = h(
    "select",
    {
      onchange: (event) => {
        sampleOrdering = event.target.value;
        draw();
      },
    },
    choices.map(([value, text]) => h("option", { value, selected: value === sampleOrdering }, text)),
  );
  draw();
  const drawn = DATA.samples.length < DATA.n_samples
    ? ` ${count(DATA.samples.length)} of ${count(DATA.n_samples)} samples are drawn.`
    : "";
  return part(
    "Activity over samples",
    h("label", { class: "inline" }, "Samples ", choose),
    holder,
    legend(regulator),
    h("p", { class: "note" }, extremes(regulator) + drawn),
    downloadButton(`activity_${fileName(regulator.label)}.tsv`, () => ({
      columns: ["sample", ...(DATA.groups.length ? ["group"] : []), "activity"],
      rows: DATA.samples.map((name, m) => [
        name,
        ...(DATA.groups.length ? [DATA.groups[m]] : []),
        regulator.activities[m],
      ]),
    })),
  );
}

function legend(regulator) {
  if (!DATA.groups.length) return null;
  const colours = groupColours(regulator.activities);
  const items = [...colours].map(([group, name]) => h("li", {}, h("i", { class: `swatch ${name}` }), group || "no group"));
  const all = new Set(DATA.groups).size;
  if (all > colours.size) items.push(h("li", {}, h("i", { class: "swatch plain" }), `${all - colours.size} groups with weaker mean activity`));
  return h("ul", { class: "legend" }, items);
}

function extremes(regulator) {
  const order = sampleOrder("activity", regulator.activities);
  const names = (samples) => samples.map((m) => DATA.samples[m]).join(", ");
  if (order.length < 6) return "";
  return `Highest in ${names(order.slice(-3).reverse())}; lowest in ${names(order.slice(0, 3))}.`;
}

function weightNote({ weights, known }) {
  const up = weights.filter((w) => w > 0).length;
  const coloured = known?.found.length ? " Known targets and new ones in the colours of the overlap." : "";
  return `${count(up)} positive, ${count(weights.length - up)} negative.${coloured}`;
}

function knownPart({ known, label }) {
  const title = "Best known regulator";
  if (!known) return part(title, h("p", { class: "note" }, "None was given or none overlaps."));
  const weak = known.q !== null && known.q > 0.05;
  const lists = known.found.length + known.missed.length + known.new.length > 0;
  const facts = [
    known.overlap === null ? null : `${count(known.overlap)} of ${known.set_size === null ? "its" : count(known.set_size)} measured targets found`,
    known.p === null ? null : `p = ${chance(known.p)}`,
    known.q === null ? null : `q = ${chance(known.q)}`,
  ].filter((text) => text !== null);
  return part(
    title,
    h("p", {}, h("strong", {}, known.name), weak ? " (no more than chance)" : "", facts.length ? `: ${facts.join(", ")}.` : "."),
    lists ? figure((width) => overlapBar(known, width)) : null,
    lists ? overlapLists(known, label) : null,
    known.unmeasured ? h("p", { class: "note" }, `${plural(known.unmeasured, "known target")} not in the data.`) : null,
  );
}

const STATES = [
  ["missed", "known, missed"],
  ["found", "known, found"],
  ["new", "new"],
];

function overlapLists(known, label) {
  const rows = STATES.flatMap(([state]) => known[state].map((gene) => [DATA.genes[gene], DATA.gene_labels[gene], state]));
  return h(
    "div",
    {},
    STATES.map(([state, text]) =>
      h(
        "details",
        { class: "genes" },
        h("summary", {}, h("i", { class: `swatch fill-${state}` }), `${count(known[state].length)} ${text}`),
        h("p", {}, known[state].map((gene) => DATA.gene_labels[gene]).join(", ") || "None."),
      ),
    ),
    downloadButton(`overlap_${fileName(label)}.tsv`, () => ({ columns: ["gene", "name", "state"], rows })),
  );
}

/** Share of the table cell that a weight fills, to the right if positive and to the left if not. */
function weightCell(weight, largest) {
  const share = (50 * Math.abs(weight)) / largest;
  const side = weight < 0 ? "negative" : "positive";
  const bar = h("i", { class: `weight-bar fill-${side}`, "aria-hidden": "true" });
  bar.style.width = `${share}%`;
  bar.style[weight < 0 ? "right" : "left"] = "50%";
  return [h("span", { class: "weight-track" }, bar), h("span", { class: "weight-number" }, number(weight))];
}

function targetsPart(regulator, r, { open, showGene }) {
  const largest = Math.max(...regulator.weights.map(Math.abs), 1e-12);
  const knownTargets = new Set(regulator.known?.found ?? []);
  const rows = regulator.targets.map((_, i) => i);
  const gene = (i) => regulator.targets[i];
  const others = (i) => REGULATORS_OF[gene(i)].filter(([other]) => other !== r);
  const link = ([other]) =>
    h("button", { type: "button", class: "link", onclick: () => open(other) }, REGULATORS[other].label);
  const columns = [
    {
      title: "Target",
      file: "target",
      value: (i) => DATA.gene_labels[gene(i)],
      cell: (i) => h("button", { type: "button", class: "link", onclick: () => showGene(gene(i)) }, DATA.gene_labels[gene(i)]),
    },
    { title: "Weight", file: "weight", numeric: true, value: (i) => regulator.weights[i], cell: (i) => weightCell(regulator.weights[i], largest) },
    { title: "Probability", file: "probability", numeric: true, value: (i) => regulator.probabilities[i], cell: (i) => regulator.probabilities[i].toFixed(3) },
    {
      title: "Also a target of",
      file: "other_regulators",
      className: "wide",
      value: (i) => others(i).map(([other]) => REGULATORS[other].label).join(", "),
      cell: (i) => h("span", { class: "links" }, others(i).slice(0, 4).map(link), others(i).length > 4 ? `+ ${others(i).length - 4}` : null),
    },
  ];
  if (DATA.gene_labels.some((label, g) => label !== DATA.genes[g])) {
    columns.splice(1, 0, { title: "Id", file: "id", className: "wide", value: (i) => DATA.genes[gene(i)] });
  }
  if (knownTargets.size) {
    const state = (i) => (knownTargets.has(gene(i)) ? "known" : "new");
    const mark = (i) => h("span", { class: "state" }, h("i", { class: `swatch fill-${state(i) === "known" ? "found" : "new"}` }), state(i));
    columns.splice(-1, 0, { title: "State", file: "state", value: state, cell: mark });
  }
  const table = sortableTable({
    caption: `Targets of ${fullName(regulator)}`,
    columns,
    rows,
    file: `targets_${fileName(regulator.label)}.tsv`,
    limit: 15,
  });
  return part(`Targets (${count(rows.length)})`, table.element);
}

function termsPart(regulator) {
  if (!regulator.terms.rows.length) return null;
  const caption = `Enriched terms of ${fullName(regulator)}`;
  return part("Enriched terms", plainTable(caption, regulator.terms, `terms_${fileName(regulator.label)}.tsv`));
}

function diagnosisPart(regulator) {
  if (!regulator.diagnosis.length) return null;
  const table = () => ({ columns: ["what", "value"], rows: regulator.diagnosis });
  return part(
    "Diagnosis",
    h("dl", { class: "facts" }, regulator.diagnosis.map(([what, value]) => h("div", {}, h("dt", {}, titled(what)), h("dd", {}, cellText(value))))),
    downloadButton(`diagnosis_${fileName(regulator.label)}.tsv`, table),
  );
}
