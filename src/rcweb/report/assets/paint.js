// What the network's canvas shows.

function paint(pen, size, state, view, toScreen) {
  const { edges, selected } = state;
  const near = selected ? edges.filter((edge) => touches(edge, selected)) : [];
  pen.clearRect(0, 0, size.width, size.height);
  if (!(selected && state.only)) paintAll(pen, state, toScreen, view.zoom);
  if (selected) {
    strokeEdges(pen, secondEdges(edges, near, selected), toScreen, 0.3, 0.8);
    paintChosen(pen, state, near, toScreen, view.zoom);
  }
  const inside = ([x, y]) => x > -50 && y > -20 && x < size.width + 50 && y < size.height + 20;
  const write = labeller(pen, inside);
  labelsInOrder(state, near, view.zoom).forEach(({ point, text, strong }) =>
    write(toScreen(point), text, strong, size.width),
  );
}

/** The whole network; faint while something is chosen. */
function paintAll(pen, { edges, genes, selected }, toScreen, zoom) {
  const [homes, others] = [true, false].map((home) => edges.filter((edge) => edge.home === home));
  strokeEdges(pen, others, toScreen, selected ? 0.03 : crossAlpha(edges.length), 0.7);
  strokeEdges(pen, homes, toScreen, selected ? 0.08 : 0.75, 0.9);
  paintGenes(pen, genes, toScreen, zoom, selected ? 0.2 : 0.9);
  const all = REGULATORS.map((_, r) => r);
  paintRegulators(pen, all, toScreen, zoom, selected ? 0.25 : 1);
}

/** Edges from other regulators to the targets of the chosen one. */
function secondEdges(edges, near, { kind, index }) {
  if (kind !== "regulator") return [];
  const targets = new Set(near.map((edge) => edge.gene));
  return edges.filter((edge) => edge.r !== index && targets.has(edge.gene));
}

/** Which nodes are not drawn while only a neighbourhood is. */
function hiddenBy({ edges, selected, only }) {
  if (!only || !selected) return { regulator: () => false, gene: () => false };
  const near = edges.filter((edge) => touches(edge, selected));
  const shown = [...near, ...secondEdges(edges, near, selected)];
  const genes = new Set(near.map((edge) => edge.gene));
  const regulators = new Set(shown.map((edge) => edge.r));
  (selected.kind === "regulator" ? regulators : genes).add(selected.index);
  return { regulator: (r) => !regulators.has(r), gene: (gene) => !genes.has(gene) };
}

const touches = (edge, { kind, index }) => (kind === "regulator" ? edge.r : edge.gene) === index;
/** Edges between discs: the more there are, the fainter, so that the discs stay visible. */
const crossAlpha = (n) => Math.max(0.06, Math.min(0.5, 400 / Math.max(n, 1)));

function strokeEdges(pen, edges, toScreen, alpha, width) {
  pen.lineWidth = width;
  pen.globalAlpha = alpha;
  for (const [sign, name] of [
    [1, "positive"],
    [-1, "negative"],
  ]) {
    pen.strokeStyle = colour(name);
    pen.beginPath();
    for (const edge of edges) {
      if (edge.weight * sign <= 0) continue;
      pen.moveTo(...toScreen(regulatorPoint(edge.r)));
      pen.lineTo(...toScreen(genePoint(edge.gene)));
    }
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function disc(pen, [x, y], radius) {
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

const geneRadius = (zoom) => Math.max(1.1, Math.min(5, 0.22 * zoom));
const regulatorRadius = (r, zoom) =>
  Math.min(12, 2.5 + 0.12 * zoom * Math.min(4, 0.4 * Math.sqrt(REGULATORS[r].targets.length)));

function paintGenes(pen, genes, toScreen, zoom, alpha) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour("node");
  pen.beginPath();
  for (const gene of genes) disc(pen, toScreen(genePoint(gene)), geneRadius(zoom));
  pen.fill();
  pen.globalAlpha = 1;
}

function paintRegulators(pen, regulators, toScreen, zoom, alpha) {
  pen.globalAlpha = alpha;
  pen.fillStyle = colour("ink");
  pen.strokeStyle = colour("surface");
  pen.lineWidth = 1.5;
  for (const r of regulators) {
    pen.beginPath();
    disc(pen, toScreen(regulatorPoint(r)), regulatorRadius(r, zoom));
    pen.fill();
    pen.stroke();
  }
  pen.globalAlpha = 1;
}

function paintChosen(pen, { edges, selected }, near, toScreen, zoom) {
  strokeEdges(pen, near, toScreen, 0.9, 1.4);
  const second = secondEdges(edges, near, selected).map((edge) => edge.r);
  paintRegulators(pen, [...new Set(second)], toScreen, zoom, 0.7);
  paintGenes(
    pen,
    near.map((edge) => edge.gene),
    toScreen,
    zoom * 1.3,
    1,
  );
  paintRegulators(pen, [...new Set(near.map((edge) => edge.r))], toScreen, zoom, 1);
  const point =
    selected.kind === "regulator" ? regulatorPoint(selected.index) : genePoint(selected.index);
  if (point[0] === null) return;
  pen.strokeStyle = colour("accent");
  pen.lineWidth = 3;
  pen.beginPath();
  disc(
    pen,
    toScreen(point),
    selected.kind === "regulator"
      ? regulatorRadius(selected.index, zoom) + 3
      : geneRadius(zoom) + 4,
  );
  pen.stroke();
}

/** Names to write, the most wanted first: chosen and its neighbours, regulators, then variables. */
function labelsInOrder(state, near, zoom) {
  const { selected } = state;
  const regulator = (r, strong) => ({
    point: regulatorPoint(r),
    text: REGULATORS[r].label,
    strong,
  });
  const gene = (g, strong) => ({ point: genePoint(g), text: DATA.gene_labels[g], strong });
  if (selected) {
    const own =
      selected.kind === "regulator" ? regulator(selected.index, true) : gene(selected.index, true);
    const second = new Set(secondEdges(state.edges, near, selected).map((edge) => edge.r));
    const neighbours =
      selected.kind === "regulator"
        ? [
            ...[...second].map((r) => regulator(r, true)),
            ...near.map((edge) => gene(edge.gene, false)),
          ]
        : near.map((edge) => regulator(edge.r, true));
    return [own, ...neighbours].filter(({ point }) => point[0] !== null);
  }
  const bySize = REGULATORS.map((_, r) => r).sort(
    (a, b) => REGULATORS[b].targets.length - REGULATORS[a].targets.length,
  );
  const names = bySize.map((r) => regulator(r, true));
  return zoom > 22 ? [...names, ...[...state.genes].map((g) => gene(g, false))] : names;
}

/** Writes a name beside its node unless it would cover one already written. */
function labeller(pen, inside) {
  const placed = [];
  const ink = { true: colour("ink"), false: colour("muted") };
  pen.lineJoin = "round";
  pen.textBaseline = "middle";
  return ([x, y], text, strong, width) => {
    if (!inside([x, y]) || placed.length > 400) return;
    pen.font = strong ? "600 12px system-ui, sans-serif" : "11px system-ui, sans-serif";
    const shown = text.length > 24 ? `${text.slice(0, 23)}…` : text;
    const gap = strong ? 9 : 7;
    const long = pen.measureText(shown).width;
    const left = x + gap + long > width ? x - gap - long : x + gap;
    const box = [left, y - 8, left + long + 4, y + 8];
    if (placed.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3]))
      return;
    placed.push(box);
    pen.strokeStyle = colour("surface");
    pen.lineWidth = 4;
    pen.strokeText(shown, left, y);
    pen.fillStyle = ink[strong];
    pen.fillText(shown, left, y);
  };
}
