// The drawing of the network: a view that can be moved, and what is on it.

const POINTS = DATA.positions;
const regulatorPoint = (r) => POINTS[r];
const genePoint = (gene) => POINTS[REGULATORS.length + gene];

/** All edges, the surest first; `home` marks the one by whose regulator a variable is drawn. */
const EDGES = REGULATORS.flatMap((regulator, r) =>
  regulator.targets.map((gene, i) => ({
    r,
    gene,
    weight: regulator.weights[i],
    probability: regulator.probabilities[i],
    score: regulator.scores[i],
  })),
).sort((a, b) => Math.abs(b.score) - Math.abs(a.score));
const housed = new Set();
for (const edge of EDGES) {
  edge.home = !housed.has(edge.gene);
  housed.add(edge.gene);
}

/** A canvas that draws `state` = { edges, selected } and tells what lies under the pointer. */
function networkCanvas(canvas, state, onChoose) {
  const pen = canvas.getContext("2d");
  const view = { x: 0, y: 0, zoom: 1 };
  let size = { width: 0, height: 0 };
  let waiting = false;

  const toScreen = ([x, y]) => [
    (x - view.x) * view.zoom + size.width / 2,
    (y - view.y) * view.zoom + size.height / 2,
  ];

  /** Show these points, all by default, as large as the canvas allows up to a limit. */
  function fit(points = POINTS, limit = Infinity) {
    const seen = points.filter(([x]) => x !== null);
    if (!seen.length || !size.width) return;
    const [left, right] = range(seen.map(([x]) => x));
    const [top, bottom] = range(seen.map(([, y]) => y));
    view.x = (left + right) / 2;
    view.y = (top + bottom) / 2;
    view.zoom = Math.min(size.width / (right - left + 6), size.height / (bottom - top + 6), limit);
    draw();
  }

  function zoomBy(factor, at = [size.width / 2, size.height / 2]) {
    const zoom = Math.max(0.5, Math.min(200, view.zoom * factor));
    const [dx, dy] = [at[0] - size.width / 2, at[1] - size.height / 2];
    view.x += dx / view.zoom - dx / zoom;
    view.y += dy / view.zoom - dy / zoom;
    view.zoom = zoom;
    draw();
  }

  function panBy(dx, dy) {
    view.x -= dx / view.zoom;
    view.y -= dy / view.zoom;
    draw();
  }

  /** Draw at the next frame, once, however often it was asked for. */
  function draw() {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      paint(pen, size, state, view, toScreen);
    });
  }

  function nearest(x, y) {
    let best = null;
    let least = 12 ** 2;
    const look = (kind, index, point, bonus) => {
      if (point[0] === null) return;
      const [px, py] = toScreen(point);
      const distance = (px - x) ** 2 + (py - y) ** 2 - bonus;
      if (distance < least) [best, least] = [{ kind, index }, distance];
    };
    const hidden = hiddenBy(state);
    REGULATORS.forEach(
      (_, r) => hidden.regulator(r) || look("regulator", r, regulatorPoint(r), 40),
    );
    for (const gene of state.genes) if (!hidden.gene(gene)) look("gene", gene, genePoint(gene), 0);
    return best;
  }

  /** What is seen now, as SVG. */
  function svg() {
    const writer = svgPen(size);
    paint(writer, size, state, view, toScreen);
    const paper = { width: "100%", height: "100%", fill: colour("surface") };
    writer.svg.prepend(s("rect", paper));
    return writer.svg;
  }

  new ResizeObserver(([entry]) => {
    const first = !size.width;
    size = { width: entry.contentRect.width, height: entry.contentRect.height };
    const density = window.devicePixelRatio || 1;
    canvas.width = Math.round(size.width * density);
    canvas.height = Math.round(size.height * density);
    pen.setTransform(density, 0, 0, density, 0, 0);
    if (first) fit();
    else draw();
  }).observe(canvas);

  listen(canvas, { fit, zoomBy, panBy, nearest, onChoose });
  return { fit, zoomBy, draw, svg };
}

/** Pointers, wheel and keys. One finger scrolls the page, two move and zoom the drawing. */
function listen(canvas, { fit, zoomBy, panBy, nearest, onChoose }) {
  const down = new Map();
  let moved = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    if (down.size === 1) moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = down.get(event.pointerId);
    if (!before) {
      const node = nearest(...now);
      canvas.classList.toggle("over-node", node !== null);
      if (node) showTip(event, nodeName(node));
      else hideTip();
      return;
    }
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    if (others.length) {
      const apart = ([x, y]) => Math.hypot(x - others[0][0], y - others[0][1]);
      zoomBy(apart(now) / Math.max(apart(before), 1), others[0]);
    }
    const share = others.length ? 0.5 : 1;
    panBy(share * (now[0] - before[0]), share * (now[1] - before[1]));
    moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
    down.set(event.pointerId, now);
  });
  const release = (event) => {
    if (event.type === "pointerup" && down.size === 1 && moved < 6)
      onChoose(nearest(...place(event)));
    down.delete(event.pointerId);
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", hideTip);
  canvas.addEventListener(
    "wheel",
    (event) => {
      // The wheel belongs to the page until the drawing was clicked.
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      zoomBy(Math.exp(-event.deltaY * 0.002), place(event));
    },
    { passive: false },
  );
  const keys = {
    ArrowLeft: () => panBy(60, 0),
    ArrowRight: () => panBy(-60, 0),
    ArrowUp: () => panBy(0, 60),
    ArrowDown: () => panBy(0, -60),
    "+": () => zoomBy(1.3),
    "=": () => zoomBy(1.3),
    "-": () => zoomBy(1 / 1.3),
    0: () => fit(),
    Escape: () => onChoose(null),
  };
  canvas.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

const nodeName = ({ kind, index }) =>
  kind === "regulator" ? fullName(REGULATORS[index]) : DATA.gene_labels[index];
