// Everything about one variable: what regulates it, how well that explains it, what it is.

/** Share of the variance of a variable that one regulator accounts for alone, or null. */
function shareOf(r, place, gene) {
  const spread = DATA.gene_spread[gene];
  const own = REGULATORS[r].spread;
  if (!spread || own === null) return null;
  return ((REGULATORS[r].weights[place] * own) / spread) ** 2;
}

function geneView(gene, actions) {
  return [
    geneHeader(gene, actions),
    explainedPart(gene),
    geneRegulators(gene, actions),
    annotationPart(gene),
  ];
}

function geneHeader(gene, { showInNetwork, back }) {
  const [label, id] = [DATA.gene_labels[gene], DATA.genes[gene]];
  const drawn = REGULATORS_OF[gene].length > 0;
  return h(
    "header",
    { class: "detail-head" },
    h(
      "div",
      {},
      h("h3", { id: "detail-title" }, label, " ", label === id ? null : h("small", {}, id)),
      h(
        "p",
        { class: "note" },
        `Variable; target of ${plural(REGULATORS_OF[gene].length, "regulator")}.`,
      ),
    ),
    h(
      "div",
      { class: "buttons" },
      outLink(gene, "Look up ↗"),
      drawn
        ? button("Show in network", "quiet", () => showInNetwork({ kind: "gene", index: gene }))
        : null,
      back ? button("Back", "quiet", back) : null,
    ),
  );
}

function explainedPart(gene) {
  const total = DATA.gene_explained[gene];
  if (total === null || total === undefined) return null;
  const share = Math.max(0, total);
  const parts = REGULATORS_OF[gene]
    .map(([r, place]) => ({ r, share: shareOf(r, place, gene) ?? 0 }))
    .sort((a, b) => b.share - a.share);
  const words =
    total < 0
      ? "The network predicts it worse than its mean does."
      : `The network explains ${percent(share)} of its variance.`;
  return part(
    "Variance",
    h("p", {}, words),
    parts.length
      ? figure((width) => shareBars(gene, parts, share, width), {
          name: `variance_${fileName(DATA.gene_labels[gene])}`,
          caption:
            "Of each regulator alone; where activities correlate these do not add up to the total.",
        })
      : null,
  );
}

/** A bar for all regulators together and one for each. */
function shareBars(gene, parts, total, width) {
  const rows = [{ text: "together", share: total, strong: true }].concat(
    parts.slice(0, 12).map(({ r, share }) => ({ text: REGULATORS[r].label, share, strong: false })),
  );
  const [line, left] = [22, Math.min(150, width * 0.35)];
  const svg = frame(
    width,
    rows.length * line,
    `Share of the variance of ${DATA.gene_labels[gene]} by regulator.`,
  );
  const most = Math.max(1, ...rows.map(({ share }) => share));
  const x = scale([0, most], [left, width - 52]);
  rows.forEach(({ text, share, strong }, i) => {
    const y = i * line + line / 2;
    svg.append(
      s(
        "text",
        { class: strong ? "strong" : null, x: left - 8, y: y + 4, "text-anchor": "end" },
        shorten(text, 20),
      ),
      s("rect", { class: "track", x: left, y: y - 6, width: x(most) - left, height: 12 }),
      s("rect", {
        class: "kept",
        x: left,
        y: y - 6,
        width: Math.max(1, x(share) - left),
        height: 12,
      }),
      s("text", { x: x(most) + 8, y: y + 4 }, percent(share)),
    );
  });
  return svg;
}

function geneRegulators(gene, { open }) {
  const rows = REGULATORS_OF[gene].map(([r, place]) => ({ r, place }));
  const title = `Regulators (${count(rows.length)})`;
  if (!rows.length) return part(title, h("p", { class: "note" }, "No edge leads to it."));
  const weight = ({ r, place }) => REGULATORS[r].weights[place];
  const largest = Math.max(range(rows.map((row) => Math.abs(weight(row))))[1], 1e-12);
  const share = ({ r, place }) => shareOf(r, place, gene);
  const columns = [
    {
      title: "Regulator",
      file: "regulator",
      value: ({ r }) => REGULATORS[r].label,
      cell: ({ r }) => button(fullName(REGULATORS[r]), "link", () => open(r)),
    },
    {
      title: "Weight",
      file: "weight",
      numeric: true,
      value: weight,
      cell: (row) => weightCell(weight(row), largest),
    },
    {
      title: "Prob.",
      file: "probability",
      numeric: true,
      value: ({ r, place }) => REGULATORS[r].probabilities[place],
      cell: ({ r, place }) => REGULATORS[r].probabilities[place].toFixed(3),
    },
    ...(ANY_GRADE
      ? [
          {
            title: "Grade",
            file: "grade",
            value: ({ r }) => REGULATORS[r].grade,
            cell: ({ r }) => gradeBadge(REGULATORS[r].grade),
          },
        ]
      : []),
    ...(DATA.gene_spread.length
      ? [
          {
            title: "Variance",
            file: "variance_share",
            numeric: true,
            value: share,
            cell: (row) => (share(row) === null ? "–" : percent(share(row), 1)),
          },
        ]
      : []),
  ];
  const file = `regulators_of_${fileName(DATA.gene_labels[gene])}.tsv`;
  const caption = `Regulators of ${DATA.gene_labels[gene]}`;
  const ordered = [...rows].sort((a, b) => Math.abs(weight(b)) - Math.abs(weight(a)));
  return part(title, sortableTable({ caption, columns, rows: ordered, file }).element);
}

function annotationPart(gene) {
  const known = DATA.gene_columns
    .map((column) => [column.title, annotated(column, gene)])
    .filter(([, text]) => text !== null);
  if (!known.length) return null;
  return part(
    "Annotation",
    facts(known),
    downloadButton(`annotation_${fileName(DATA.gene_labels[gene])}.tsv`, () => ({
      columns: ["what", "value"],
      rows: [["id", DATA.genes[gene]], ["name", DATA.gene_labels[gene]], ...known],
    })),
  );
}
