// The targets of one regulator.

/** Share of the table cell that a weight fills, to the right if positive and to the left if not. */
function weightCell(weight, largest) {
  const share = (50 * Math.abs(weight)) / largest;
  const side = weight < 0 ? "negative" : "positive";
  const bar = h("i", { class: `weight-bar fill-${side}`, "aria-hidden": "true" });
  bar.style.width = `${share}%`;
  bar.style[weight < 0 ? "right" : "left"] = "50%";
  return [
    h("span", { class: "weight-track" }, bar),
    h("span", { class: "weight-number" }, number(weight)),
  ];
}

function targetsPart(regulator, r, { open, openGene }) {
  const largest = Math.max(range(regulator.weights.map(Math.abs))[1], 1e-12);
  const rows = regulator.targets.map((_, i) => i);
  const gene = (i) => regulator.targets[i];
  const label = (i) => DATA.gene_labels[gene(i)];
  const columns = [
    {
      title: "Target",
      file: "target",
      value: label,
      cell: (i) =>
        h(
          "span",
          { class: "gene" },
          button(label(i), "link", () => openGene(gene(i))),
          label(i) === DATA.genes[gene(i)] ? null : h("small", {}, ` ${DATA.genes[gene(i)]}`),
          outLink(gene(i), " ↗"),
        ),
    },
    { title: "Id", file: "id", fileOnly: true, value: (i) => DATA.genes[gene(i)] },
    {
      title: "Weight",
      file: "weight",
      numeric: true,
      value: (i) => regulator.weights[i],
      cell: (i) => weightCell(regulator.weights[i], largest),
    },
    {
      title: "Prob.",
      file: "probability",
      numeric: true,
      value: (i) => regulator.probabilities[i],
      cell: (i) => regulator.probabilities[i].toFixed(3),
    },
    ...stateColumn(regulator, gene),
    ...annotationColumns(gene),
    otherRegulators(r, gene, open),
  ];
  const table = sortableTable({
    caption: `Targets of ${fullName(regulator)}`,
    columns,
    rows,
    file: `targets_${fileName(regulator.label)}.tsv`,
    limit: 15,
  });
  return part(`Targets (${count(rows.length)})`, table.element);
}

/** Whether a target is known, where members of the known set are. */
function stateColumn({ known }, gene) {
  const knownTargets = new Set(known?.found ?? []);
  if (!knownTargets.size) return [];
  const state = (i) => (knownTargets.has(gene(i)) ? "known" : "new");
  const cell = (i) =>
    h(
      "span",
      { class: "state" },
      h("i", { class: `swatch fill-${state(i) === "known" ? "found" : "new"}` }),
      state(i),
    );
  return [{ title: "State", file: "state", value: state, cell }];
}

const SHOWN_ANNOTATION = 2; // columns beside the targets; the file and the gene's own page have all

/** What is known of the targets themselves; the first columns are shown, the file has all. */
function annotationColumns(gene) {
  return DATA.gene_columns.map((column, k) => ({
    title: titled(column.title),
    file: column.title,
    className: column.title === "position" ? "wide place" : "wide brief",
    fileOnly: k >= SHOWN_ANNOTATION,
    value: (i) => annotated(column, gene(i)),
    cell: (i) =>
      h("span", { title: annotated(column, gene(i)) }, annotated(column, gene(i)) ?? "–"),
  }));
}

function otherRegulators(r, gene, open) {
  const others = (i) => REGULATORS_OF[gene(i)].filter(([other]) => other !== r);
  const link = ([other]) => button(REGULATORS[other].label, "link", () => open(other));
  return {
    title: "Also a target of",
    // The annotation needs the room, and the variable's own page says the same.
    fileOnly: DATA.gene_columns.length > 1,
    file: "other_regulators",
    className: "wide",
    value: (i) =>
      others(i)
        .map(([other]) => REGULATORS[other].label)
        .join(", "),
    cell: (i) =>
      h(
        "span",
        { class: "links" },
        others(i).slice(0, 3).map(link),
        others(i).length > 3 ? `+ ${others(i).length - 3}` : null,
      ),
  };
}
