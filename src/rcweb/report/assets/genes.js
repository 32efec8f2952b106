// Everything about one variable: what regulates it, how well that explains it, what it is.

/**
 * What each regulator has to do with the prediction of a variable: the covariance of its part with
 * the whole over the variance of the whole. Adds up to 1; negative where it works against the others.
 */
function partsOf(gene) {
  const terms = REGULATORS_OF[gene].map(([r, place]) => {
    const { activities, weights } = REGULATORS[r];
    const middle = mean(activities);
    return activities.map((a) => weights[place] * (a - middle));
  });
  const whole = DATA.samples.map((_, m) => sum(terms.map((term) => term[m])));
  const variance = sum(whole.map((x) => x * x));
  const part = (term) => (variance > 0 ? sum(term.map((x, m) => x * whole[m])) / variance : 0);
  return new Map(REGULATORS_OF[gene].map(([r], i) => [r, part(terms[i])]));
}

/** Share of the variance of a variable that each regulator explains; null where it is not known. */
function sharesOf(gene) {
  const total = DATA.gene_explained[gene];
  if (!(total > 0)) return null;
  return new Map([...partsOf(gene)].map(([r, part]) => [r, total * part]));
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
  const shares = sharesOf(gene);
  const words = shares
    ? `The network explains ${percent(total)} of its variance.`
    : "The network predicts it no better than its mean does.";
  const parts = [...(shares ?? [])].sort((a, b) => b[1] - a[1]);
  return part(
    "Variance",
    h("p", {}, words),
    parts.length
      ? figure((width) => shareBars(gene, parts, total, width), {
          name: `variance_${fileName(DATA.gene_labels[gene])}`,
          caption:
            "By each regulator's part in the prediction; negative where it works against the others.",
        })
      : null,
  );
}

/** A bar for all regulators together and one for each. */
function shareBars(gene, parts, total, width) {
  const rows = [{ text: "together", share: total, strong: true }].concat(
    parts.map(([r, share]) => ({ text: REGULATORS[r].label, share, strong: false })),
  );
  const [line, left] = [22, Math.min(150, width * 0.35)];
  const title = `Share of the variance of ${DATA.gene_labels[gene]} by regulator.`;
  const svg = frame(width, rows.length * line, title);
  const [low, high] = range([0, 1, ...rows.map(({ share }) => share)]);
  const x = scale([low, high], [left, width - 56]);
  rows.forEach(({ text, share, strong }, i) => {
    const y = i * line + line / 2;
    const [from, to] = range([x(0), x(share)]);
    svg.append(
      s(
        "text",
        { class: strong ? "strong" : null, x: left - 8, y: y + 4, "text-anchor": "end" },
        fitText(text, left - 10),
      ),
      s("rect", { class: "track", x: left, y: y - 6, width: x(high) - left, height: 12 }),
      s("rect", {
        class: share < 0 ? "fill-negative" : "kept",
        x: from,
        y: y - 6,
        width: Math.max(1, to - from),
        height: 12,
      }),
      s("text", { x: x(high) + 8, y: y + 4 }, percentOf(share)),
    );
  });
  return svg;
}

/** A share that may be negative. */
const percentOf = (x) => percent(Math.round(x * 1000) / 1000 || 0, 1).replace("-", "\u2212");

function geneRegulators(gene, { open }) {
  const rows = REGULATORS_OF[gene].map(([r, place]) => ({ r, place }));
  const title = `Regulators (${count(rows.length)})`;
  if (!rows.length) return part(title, h("p", { class: "note" }, "No edge leads to it."));
  const weight = ({ r, place }) => REGULATORS[r].weights[place];
  const largest = Math.max(range(rows.map((row) => Math.abs(weight(row))))[1], 1e-12);
  const shares = sharesOf(gene);
  const share = ({ r }) => shares.get(r);
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
    ...(shares
      ? [
          {
            title: "Variance",
            file: "variance_share",
            numeric: true,
            value: share,
            cell: (row) => percentOf(share(row)),
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
