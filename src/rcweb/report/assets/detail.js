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
      ANY_KNOWN ? knownPart(regulator) : null,
      part(
        "Weights",
        regulator.weights.length
          ? figure((width) => histogram(regulator, width), {
              name: `weights_${fileName(regulator.label)}`,
            })
          : h("p", {}, "No targets."),
        h("p", { class: "note" }, weightNote(regulator)),
      ),
    ),
    candidatesPart(regulator),
    targetsPart(regulator, r, actions),
    relatedPart(r, actions),
    termsPart(regulator),
    diagnosisPart(regulator),
  ];
}

/** One line on what it does: its known namesake's description, else its most enriched term. */
function about({ id, label, known, terms }) {
  if (label !== id && known?.description) return known.description;
  return terms.rows.length ? termName(terms, terms.rows[0]) : null;
}

function detailHeader(regulator, r, { open, showInNetwork }) {
  const step = (to, text, label) => {
    const element = button(text, "quiet", () => open(to), label);
    element.disabled = !REGULATORS[to];
    return element;
  };
  return h(
    "header",
    { class: "detail-head" },
    h(
      "div",
      {},
      h(
        "h3",
        { id: "detail-title" },
        regulator.label,
        " ",
        regulator.label === regulator.id ? null : h("small", {}, regulator.id),
      ),
      about(regulator) ? h("p", { class: "note" }, about(regulator)) : null,
      gradeSentence(regulator),
      regulator.unnamed
        ? h("p", { class: "note" }, `No name: ${lowerFirst(regulator.unnamed)}`)
        : null,
    ),
    h(
      "div",
      { class: "buttons" },
      button("Show in network", "quiet", () => showInNetwork(r)),
      step(r - 1, "←", "Previous regulator"),
      step(r + 1, "→", "Next regulator"),
    ),
  );
}

const lowerFirst = (text) => text.replace(/^[A-Z](?![A-Z])/, (first) => first.toLowerCase());

function weightNote({ weights, known }) {
  const up = weights.filter((w) => w > 0).length;
  const coloured = known?.found.length
    ? " Known targets and new ones in the colours of the overlap."
    : "";
  return `${count(up)} positive, ${count(weights.length - up)} negative.${coloured}`;
}

function knownPart({ known, label }) {
  const title = "Best known regulator";
  if (!known) return part(title, h("p", { class: "note" }, "None overlaps."));
  const weak = known.q !== null && known.q > 0.05; // as in the labels
  const lists = known.found.length + known.missed.length + known.new.length > 0;
  const facts = [
    known.overlap === null
      ? null
      : `${count(known.overlap)} of ${known.set_size === null ? "its" : count(known.set_size)} measured targets found`,
    known.p === null ? null : `p\u00a0=\u00a0${chance(known.p)}`,
    known.q === null ? null : `q\u00a0=\u00a0${chance(known.q)}`,
  ].filter((text) => text !== null);
  return part(
    title,
    h(
      "p",
      {},
      h("strong", {}, known.name),
      weak ? " (no more than chance)" : "",
      facts.length ? `: ${facts.join(", ")}.` : ".",
    ),
    lists
      ? figure((width) => overlapBar(known, width), { name: `overlap_${fileName(label)}` })
      : null,
    lists ? overlapLists(known, label) : null,
    known.unmeasured
      ? h("p", { class: "note" }, `${plural(known.unmeasured, "known target")} not in the data.`)
      : null,
  );
}

const STATES = [
  ["missed", "known, missed"],
  ["found", "known, found"],
  ["new", "new"],
];

function overlapLists(known, label) {
  const rows = STATES.flatMap(([state]) =>
    known[state].map((gene) => [DATA.genes[gene], DATA.gene_labels[gene], state]),
  );
  return h(
    "div",
    {},
    STATES.map(([state, text]) =>
      h(
        "details",
        { class: "genes" },
        h(
          "summary",
          {},
          h("i", { class: `swatch fill-${state}` }),
          `${count(known[state].length)} ${text}`,
        ),
        h("p", {}, known[state].map((gene) => DATA.gene_labels[gene]).join(", ") || "None."),
      ),
    ),
    downloadButton(`overlap_${fileName(label)}.tsv`, () => ({
      columns: ["gene", "name", "state"],
      rows,
    })),
  );
}

function termsPart(regulator) {
  if (!regulator.terms.rows.length) return null;
  const caption = `Enriched terms of ${fullName(regulator)}`;
  return part(
    "Enriched terms",
    plainTable(caption, regulator.terms, `terms_${fileName(regulator.label)}.tsv`),
  );
}
