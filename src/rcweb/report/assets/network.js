// Controls of the network: filters, search, and what was chosen, in words.

const FIRST_EDGES = 3000; // drawn at first; the slider shows the others

function networkView(holder, openRegulator) {
  const state = { edges: [], genes: new Set(), selected: null };
  const canvas = h("canvas", {
    id: "network-canvas",
    tabindex: 0,
    role: "application",
    "aria-label": "Drawing of the network. Arrow keys move it, plus and minus zoom, 0 shows all of it. Search beside it gives the same in words.",
  });
  const panel = h("div", { class: "panel", id: "network-panel", role: "status" });
  const drawing = networkCanvas(canvas, state, choose);
  const filters = networkFilters(() => {
    state.edges = filters.visible();
    state.genes = new Set(state.edges.map((edge) => edge.gene));
    describe();
    drawing.draw();
  });
  const zoom = (text, label, act) => h("button", { type: "button", class: "quiet", "aria-label": label, onclick: act }, text);

  function choose(node) {
    state.selected = node;
    describe();
    drawing.draw();
  }

  function describe() {
    panel.replaceChildren(...panelContent(state, choose, openRegulator));
  }

  function show(node) {
    choose(node);
    const point = node.kind === "regulator" ? regulatorPoint(node.index) : genePoint(node.index);
    if (point[0] !== null) drawing.centre(point, 10);
  }

  holder.append(
    h(
      "div",
      { class: "controls" },
      nodeSearch(show),
      filters.element,
      h(
        "div",
        { class: "buttons" },
        zoom("−", "Zoom out", () => drawing.zoomBy(1 / 1.4)),
        zoom("+", "Zoom in", () => drawing.zoomBy(1.4)),
        zoom("All", "Show all of the network", () => drawing.fit()),
      ),
    ),
    h("div", { class: "stage" }, canvas, panel),
    h("p", { class: "note" }, "Large dots are regulators, small ones their targets; ", h("span", { class: "key positive" }, "positive"), " and ", h("span", { class: "key negative" }, "negative"), " weights. Drag to move; click the drawing, then scroll to zoom."),
    downloadButton("edges_shown.tsv", () => edgeTable(state.edges)),
  );
  filters.apply();
  return { show, redraw: drawing.draw };
}

function networkFilters(onChange) {
  const [lowest] = range([...EDGES.map((edge) => edge.probability), 1]);
  const floor = Math.floor(lowest * 20) / 20;
  const probability = h("input", { type: "range", id: "min-probability", min: floor, max: 1, step: 0.01, value: floor, oninput: apply });
  const edges = h("input", { type: "range", id: "max-edges", min: Math.min(10, EDGES.length), max: EDGES.length, step: 1, value: Math.min(FIRST_EDGES, EDGES.length), oninput: apply });
  const [probabilityText, edgesText] = [h("output", { for: "min-probability" }), h("output", { for: "max-edges" })];

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
    h("label", { class: "field", for: "min-probability" }, h("span", {}, "Probability at least ", probabilityText), probability),
    h("label", { class: "field", for: "max-edges" }, h("span", {}, "Strongest edges ", edgesText), edges),
  );
  return { element, visible, apply };
}

const edgeTable = (edges) => ({
  columns: ["regulator", "label", "target", "target_name", "weight", "probability"],
  rows: edges.map(({ r, gene, weight, probability }) => [
    REGULATORS[r].id,
    REGULATORS[r].label,
    DATA.genes[gene],
    DATA.gene_labels[gene],
    weight,
    probability,
  ]),
});

/** The variables with most edges, [[gene, number], ...]. */
function hubs(edges, most = 12) {
  const degree = new Map();
  for (const { gene } of edges) degree.set(gene, (degree.get(gene) ?? 0) + 1);
  return [...degree].sort((a, b) => b[1] - a[1]).slice(0, most);
}

/** What is chosen and what it is linked to, as text and buttons. */
function panelContent(state, choose, openRegulator) {
  const { selected, edges } = state;
  if (!selected) {
    const regulators = new Set(edges.map((edge) => edge.r)).size;
    return [h("p", {}, `${plural(edges.length, "edge")} between ${plural(regulators, "regulator")} and ${plural(state.genes.size, "target")}.`), h("p", { class: "note" }, "Choose a dot or search for a name. Targets with most regulators:"), h("ul", { class: "edges" }, hubs(edges).map(([gene, n]) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => choose({ kind: "gene", index: gene }) }, DATA.gene_labels[gene]), h("span", { class: "note" }, count(n)))))];
  }
  const near = edges.filter((edge) => touches(edge, selected));
  const forRegulator = selected.kind === "regulator";
  const other = (edge) => (forRegulator ? { kind: "gene", index: edge.gene } : { kind: "regulator", index: edge.r });
  const row = (edge) =>
    h(
      "li",
      {},
      h("button", { type: "button", class: "link", onclick: () => choose(other(edge)) }, forRegulator ? DATA.gene_labels[edge.gene] : REGULATORS[edge.r].label),
      h("span", { class: edge.weight < 0 ? "key negative" : "key positive" }, number(edge.weight)),
      h("span", { class: "note" }, `p ${edge.probability.toFixed(2)}`),
    );
  const hidden = forRegulator
    ? REGULATORS[selected.index].targets.length - near.length
    : REGULATORS_OF[selected.index].length - near.length;
  return [
    h("h3", {}, nodeName(selected)),
    h("p", { class: "note" }, `${forRegulator ? "Regulator of" : "Target of"} ${near.length ? "" : "nothing shown"}${near.length ? plural(near.length, forRegulator ? "target" : "regulator") : ""}${hidden ? `; ${plural(hidden, "edge")} hidden by the filters` : ""}.`),
    h("div", { class: "buttons" },
      forRegulator ? h("button", { type: "button", class: "quiet", onclick: () => openRegulator(selected.index) }, "Open") : null,
      h("button", { type: "button", class: "quiet", onclick: () => choose(null) }, "Clear")),
    h("ul", { class: "edges" }, near.slice(0, 60).map(row)),
    near.length > 60 ? h("p", { class: "note" }, `and ${count(near.length - 60)} more.`) : null,
  ].filter((element) => element !== null);
}

/** Names of regulators and variables that hold the text, those that begin with it first. */
function findNodes(text, most = 8) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const nodes = [];
  const look = (kind, index, ...names) => {
    const at = Math.min(...names.map((name) => name.toLowerCase().indexOf(wanted)).map((i) => (i < 0 ? Infinity : i)));
    if (at < Infinity) nodes.push({ kind, index, at: at > 0 ? 1 : 0 });
  };
  REGULATORS.forEach((regulator, r) => look("regulator", r, regulator.label, regulator.id));
  DATA.genes.forEach((gene, g) => look("gene", g, DATA.gene_labels[g], gene));
  return nodes.sort((a, b) => a.at - b.at).slice(0, most);
}

/** A search field with suggestions (the combobox pattern of WAI-ARIA). */
function nodeSearch(show) {
  let options = [];
  let active = -1;
  const list = h("ul", { id: "node-options", role: "listbox", "aria-label": "Matches", hidden: true });
  const input = h("input", {
    type: "search",
    id: "node-search",
    role: "combobox",
    "aria-expanded": "false",
    "aria-controls": "node-options",
    "aria-autocomplete": "list",
    placeholder: "gene or regulator",
    autocomplete: "off",
    oninput: suggest,
    onkeydown: onKey,
    onblur: () => setTimeout(close, 150),
  });

  function suggest() {
    options = findNodes(input.value);
    active = options.length ? 0 : -1;
    const none = input.value.trim() && !options.length ? [h("li", { class: "none" }, "No such name.")] : [];
    list.replaceChildren(
      ...options.map((node, i) =>
        h("li", { role: "option", id: `node-option-${i}`, onpointerdown: () => take(i) }, nodeName(node), h("small", {}, node.kind === "gene" ? "target" : "regulator")),
      ),
      ...none,
    );
    list.hidden = !options.length && !none.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
    mark();
  }

  function mark() {
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    if (active >= 0) input.setAttribute("aria-activedescendant", `node-option-${active}`);
    else input.removeAttribute("aria-activedescendant");
  }

  function take(i) {
    if (!options[i]) return;
    input.value = nodeName(options[i]);
    show(options[i]);
    close();
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
  }

  function onKey(event) {
    if (event.key === "Escape") return close();
    if (event.key === "Enter") return take(active);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !options.length) return undefined;
    event.preventDefault();
    active = (active + step + options.length) % options.length;
    return mark();
  }

  return h("div", { class: "combo" }, h("label", { class: "field", for: "node-search" }, "Find in the network"), input, list);
}
