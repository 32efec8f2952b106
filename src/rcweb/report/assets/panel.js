// What is chosen in the network and what it is linked to, as text and buttons.

const PANEL_EDGES = 60; // listed; the files hold all of them

/** { element, describe(state) }; the sentence is announced to screen readers when it changes. */
function networkPanel(choose, open, openGene) {
  const title = h("h3");
  const sentence = h("p", { role: "status" });
  const body = h("div");

  function describe(state) {
    const { selected } = state;
    title.textContent = selected ? nodeName(selected) : "";
    title.hidden = !selected;
    sentence.textContent = selected ? chosenSentence(state) : overviewSentence(state);
    body.replaceChildren(
      ...(selected ? chosenBody(state, choose, open, openGene) : overviewBody(state, choose)),
    );
  }

  const element = h("div", { class: "panel", id: "network-panel" }, title, sentence, body);
  return { element, describe };
}

function overviewSentence({ edges, genes }) {
  const regulators = new Set(edges.map((edge) => edge.r)).size;
  const nodes = `${plural(regulators, "regulator")} and ${plural(genes.size, "target")}`;
  return `${plural(edges.length, "edge")} between ${nodes}.`;
}

function overviewBody({ edges }, choose) {
  const row = ([gene, n]) =>
    h(
      "li",
      {},
      button(DATA.gene_labels[gene], "link", () => choose({ kind: "gene", index: gene })),
      h("span", { class: "note" }, count(n)),
    );
  return [
    h("p", { class: "note" }, "Choose a dot or search for a name. Targets with most regulators:"),
    h("ul", { class: "edges" }, hubs(edges).map(row)),
  ];
}

/** The variables with most edges, [[gene, number], ...]. */
function hubs(edges, most = 12) {
  const degree = new Map();
  for (const { gene } of edges) degree.set(gene, (degree.get(gene) ?? 0) + 1);
  return [...degree].sort((a, b) => b[1] - a[1]).slice(0, most);
}

function chosenSentence({ edges, selected }) {
  const shown = edges.filter((edge) => touches(edge, selected)).length;
  const isRegulator = selected.kind === "regulator";
  const all = (isRegulator ? REGULATORS[selected.index].targets : REGULATORS_OF[selected.index])
    .length;
  const role = isRegulator
    ? `Regulator of ${plural(all, "target")}`
    : `Target of ${plural(all, "regulator")}`;
  const grade = isRegulator && REGULATORS[selected.index].grade;
  return `${role}${grade ? `, ${grade}` : ""}${shown < all ? `; ${count(all - shown)} hidden by the filters` : ""}.`;
}

function chosenBody({ edges, selected }, choose, open, openGene) {
  const near = edges.filter((edge) => touches(edge, selected));
  const isRegulator = selected.kind === "regulator";
  const link = ({ r, gene }) =>
    isRegulator
      ? button(DATA.gene_labels[gene], "link", () => choose({ kind: "gene", index: gene }))
      : button(REGULATORS[r].label, "link", () => choose({ kind: "regulator", index: r }));
  const row = (edge) =>
    h(
      "li",
      {},
      link(edge),
      h("span", { class: edge.weight < 0 ? "key negative" : "key positive" }, number(edge.weight)),
      h("span", { class: "note" }, `prob. ${edge.probability.toFixed(2)}`),
    );
  const rest = near.length - PANEL_EDGES;
  return [
    h(
      "div",
      { class: "buttons" },
      button("Open", "quiet", () => (isRegulator ? open : openGene)(selected.index)),
      button("Clear", "quiet", () => choose(null)),
    ),
    h("ul", { class: "edges" }, near.slice(0, PANEL_EDGES).map(row)),
    h("p", { class: "note" }, rest > 0 ? `and ${count(rest)} more.` : ""),
  ];
}
