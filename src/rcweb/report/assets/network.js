// The network: its controls, the drawing and the panel beside it.

const FIRST_EDGES = 3000; // drawn at first; the slider shows the others

function networkView(holder, open, openGene) {
  const state = { edges: [], genes: new Set(), selected: null, only: false };
  const canvas = h("canvas", {
    id: "network-canvas",
    tabindex: 0,
    role: "application",
    "aria-label":
      "Drawing of the network. Arrow keys move it, plus and minus zoom, 0 shows all of it. Search beside it gives the same in words.",
  });
  const panel = networkPanel(choose, open, openGene);
  const drawing = networkCanvas(canvas, state, choose);
  const filters = networkFilters(() => {
    state.edges = filters.visible();
    state.genes = new Set(state.edges.map((edge) => edge.gene));
    panel.describe(state);
    drawing.draw();
  });

  function choose(node) {
    state.selected = node;
    panel.describe(state);
    drawing.draw();
  }

  function show(node) {
    choose(node);
    const own = node.kind === "regulator" ? regulatorPoint(node.index) : genePoint(node.index);
    const near = state.edges.filter((edge) => touches(edge, node));
    const others = near.map((edge) =>
      node.kind === "regulator" ? genePoint(edge.gene) : regulatorPoint(edge.r),
    );
    drawing.fit(
      [own, ...others].filter(([x]) => x !== null),
      24,
    );
  }

  const only = h("input", {
    type: "checkbox",
    id: "only-near",
    onchange: () => {
      state.only = only.checked;
      if (state.only && state.selected) show(state.selected);
      else drawing.draw();
    },
  });

  holder.append(
    h(
      "div",
      { class: "controls" },
      nodeSearch(show),
      filters.element,
      h(
        "div",
        { class: "buttons" },
        button("−", "quiet", () => drawing.zoomBy(1 / 1.4), "Zoom out"),
        button("+", "quiet", () => drawing.zoomBy(1.4), "Zoom in"),
        button("All", "quiet", () => drawing.fit(), "Show all of the network"),
        h("label", { class: "check" }, only, "Only the neighbourhood of what is chosen"),
      ),
    ),
    h("div", { class: "stage" }, canvas, panel.element),
    h(
      "p",
      { class: "note" },
      "Large dots are regulators, small ones their targets; ",
      h("span", { class: "key positive" }, "positive"),
      " and ",
      h("span", { class: "key negative" }, "negative"),
      " weights. Regulators with common targets lie near each other. Drag to move; click the drawing, then scroll to zoom. ",
      figureTools("network", drawing.svg),
    ),
    downloadButton("edges_shown.tsv", () => edgeTable(state.edges)),
  );
  filters.apply();
  return { show, redraw: drawing.draw };
}

function networkFilters(onChange) {
  const [lowest] = range([...EDGES.map((edge) => edge.probability), 1]);
  const floor = Math.floor(lowest * 20) / 20;
  const probability = h("input", {
    type: "range",
    id: "min-probability",
    min: floor,
    max: 1,
    step: 0.01,
    value: floor,
    oninput: apply,
  });
  const edges = h("input", {
    type: "range",
    id: "max-edges",
    min: Math.min(10, EDGES.length),
    max: EDGES.length,
    step: 1,
    value: Math.min(FIRST_EDGES, EDGES.length),
    oninput: apply,
  });
  const [probabilityText, edgesText] = [
    h("output", { for: "min-probability" }),
    h("output", { for: "max-edges" }),
  ];

  function visible() {
    const least = Number(probability.value);
    return EDGES.slice(0, Number(edges.value)).filter((edge) => edge.probability >= least - 1e-9);
  }

  function apply() {
    probabilityText.textContent = Number(probability.value).toFixed(2);
    edgesText.textContent = count(Number(edges.value));
    onChange();
  }

  const element = h(
    "div",
    { class: "sliders" },
    h(
      "label",
      { class: "field", for: "min-probability", hidden: lowest === 1 },
      h("span", {}, "Probability at least ", probabilityText),
      probability,
    ),
    h(
      "label",
      { class: "field", for: "max-edges" },
      h("span", {}, "Strongest edges ", edgesText),
      edges,
    ),
  );
  return { element, visible, apply };
}

const edgeTable = (edges) => ({
  columns: [
    "regulator",
    "target",
    "weight",
    "probability",
    "regulator_name",
    "target_name",
    "grade",
  ],
  rows: edges.map(({ r, gene, weight, probability }) => [
    REGULATORS[r].id,
    DATA.genes[gene],
    weight,
    probability,
    REGULATORS[r].label,
    DATA.gene_labels[gene],
    REGULATORS[r].grade,
  ]),
});
