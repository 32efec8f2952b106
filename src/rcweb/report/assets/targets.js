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

function targetsPart(regulator, r, { open, showGene }) {
  const largest = Math.max(...regulator.weights.map(Math.abs), 1e-12);
  const knownTargets = new Set(regulator.known?.found ?? []);
  const rows = regulator.targets.map((_, i) => i);
  const gene = (i) => regulator.targets[i];
  const others = (i) => REGULATORS_OF[gene(i)].filter(([other]) => other !== r);
  const link = ([other]) => button(REGULATORS[other].label, "link", () => open(other));
  const columns = [
    {
      title: "Target",
      file: "target",
      value: (i) => DATA.gene_labels[gene(i)],
      cell: (i) => button(DATA.gene_labels[gene(i)], "link", () => showGene(gene(i))),
    },
    {
      title: "Weight",
      file: "weight",
      numeric: true,
      value: (i) => regulator.weights[i],
      cell: (i) => weightCell(regulator.weights[i], largest),
    },
    {
      title: "Probability",
      file: "probability",
      numeric: true,
      value: (i) => regulator.probabilities[i],
      cell: (i) => regulator.probabilities[i].toFixed(3),
    },
    {
      title: "Also a target of",
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
          others(i).slice(0, 4).map(link),
          others(i).length > 4 ? `+ ${others(i).length - 4}` : null,
        ),
    },
  ];
  if (DATA.gene_labels.some((label, g) => label !== DATA.genes[g])) {
    columns.splice(1, 0, {
      title: "Id",
      file: "id",
      className: "wide",
      value: (i) => DATA.genes[gene(i)],
    });
  }
  if (knownTargets.size) {
    const state = (i) => (knownTargets.has(gene(i)) ? "known" : "new");
    const mark = (i) =>
      h(
        "span",
        { class: "state" },
        h("i", { class: `swatch fill-${state(i) === "known" ? "found" : "new"}` }),
        state(i),
      );
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
