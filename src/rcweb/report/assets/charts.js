// Drawings in SVG.

/** Round numbers that span [low, high], about n of them. */
function ticks(low, high, n = 4) {
  const rough = (high - low) / n || 1;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * ([1, 2, 5].find((m) => m * unit >= rough) ?? 10);
  const marks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++)
    marks.push(k === 0 ? 0 : k * step);
  return marks;
}

const shorten = (text, most) =>
  text.length > most ? `${text.slice(0, Math.max(1, most - 1))}…` : text;

const RULER = h("canvas").getContext("2d");
RULER.font = `12px ${getComputedStyle(document.documentElement).getPropertyValue("--sans")}`;

/** Width in pixels of text in a drawing. */
const textWidth = (text) => RULER.measureText(text).width;

/** The text, or as much of its beginning as the width allows. */
function fitText(text, width) {
  if (textWidth(text) <= width) return text;
  let most = text.length;
  while (most > 1 && textWidth(shorten(text, most)) > width) most -= 1;
  return shorten(text, most);
}

const scale = (from, to) => (x) =>
  to[0] + ((x - from[0]) / (from[1] - from[0] || 1)) * (to[1] - to[0]);

function frame(width, height, label) {
  return s("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": label,
  });
}

function yAxis(svg, y, marks, left, right, show = number) {
  for (const mark of marks) {
    svg.append(
      s("line", {
        class: mark === 0 ? "zero" : "grid",
        x1: left,
        x2: right,
        y1: y(mark),
        y2: y(mark),
      }),
      s("text", { x: left - 7, y: y(mark) + 4, "text-anchor": "end" }, show(mark)),
    );
  }
}

/** Singular values by rank on a log scale; the regulators that were kept are marked. */
function spectrumChart(width) {
  const values = DATA.singular_values.filter((value) => value > 0);
  const kept = REGULATORS.length;
  const [height, left, top, bottom] = [260, 52, 14, 36];
  const logs = values.map(Math.log10);
  const low = Math.min(...logs);
  const span = Math.max(Math.max(...logs) - low, 0.1);
  const x = scale([1, Math.max(values.length, 2)], [left + 8, width - 12]);
  const y = scale([low - 0.06 * span, low + 1.06 * span], [height - bottom, top]);
  const svg = frame(width, height, `Singular values by rank; ${kept} regulators were kept.`);
  const marks = [1, 2, 5].flatMap((m) =>
    ticks(Math.floor(low), Math.ceil(low + span), 8).map((t) => m * 10 ** Math.floor(t)),
  );
  const inside = [...new Set(marks)].filter(
    (m) => Math.log10(m) >= low - 0.05 * span && Math.log10(m) <= low + 1.05 * span,
  );
  yAxis(svg, (m) => y(Math.log10(m)), inside, left, width - 12);
  if (kept >= 1 && kept <= values.length) {
    const edge = kept < values.length ? (x(kept) + x(kept + 1)) / 2 : x(kept) + 6;
    const before = edge > width * 0.6;
    svg.append(
      s("line", { class: "mark", x1: edge, x2: edge, y1: top, y2: height - bottom }),
      s(
        "text",
        {
          class: "strong",
          x: edge + (before ? -7 : 7),
          y: top + 10,
          "text-anchor": before ? "end" : "start",
        },
        `${kept} kept`,
      ),
    );
  }
  const radius = values.length > 80 ? 2 : 3;
  values.forEach((value, i) =>
    svg.append(
      s("circle", {
        class: i < kept ? "kept" : "dropped",
        cx: x(i + 1),
        cy: y(Math.log10(value)),
        r: radius,
      }),
    ),
  );
  for (const mark of ticks(1, values.length, Math.min(8, width / 90)).filter(
    (m) => m >= 1 && Number.isInteger(m),
  )) {
    svg.append(
      s("text", { x: x(mark), y: height - bottom + 18, "text-anchor": "middle" }, number(mark)),
    );
  }
  svg.append(
    s(
      "text",
      { class: "axis", x: width - 12, y: height - 2, "text-anchor": "end" },
      "rank of singular value",
    ),
  );
  return svg;
}

/** Weights of the targets; those of the known regulator, where there is one, in their own colour. */
function histogram(regulator, width) {
  const { weights, targets, known } = regulator;
  const isKnown = new Set(known?.found ?? []);
  const split = isKnown.size > 0;
  const extent = Math.max(...weights.map(Math.abs), 1e-12);
  const bins = Math.max(10, Math.min(40, 2 * Math.round(Math.sqrt(weights.length) * 1.2)));
  const counts = Array.from({ length: bins }, () => [0, 0]);
  weights.forEach((w, i) => {
    const bin = Math.min(bins - 1, Math.floor(((w + extent) / (2 * extent)) * bins));
    counts[bin][split && !isKnown.has(targets[i]) ? 1 : 0] += 1;
  });
  const [height, left, top, bottom] = [190, 36, 8, 34];
  const most = Math.max(...counts.map(sum));
  const x = scale([-extent, extent], [left + 4, width - 10]);
  const y = scale([0, most], [height - bottom, top]);
  const svg = frame(
    width,
    height,
    `Histogram of ${plural(weights.length, "weight")}, from ${number(Math.min(...weights))} to ${number(Math.max(...weights))}.`,
  );
  yAxis(svg, y, ticks(0, most, 3).filter(Number.isInteger), left, width - 10);
  counts.forEach((parts, bin) => {
    let base = 0;
    const from = x(-extent + (bin * 2 * extent) / bins);
    const wide = Math.max(1, x(-extent + ((bin + 1) * 2 * extent) / bins) - from - 1);
    parts.forEach((n, part) => {
      if (!n) return;
      const classes = split
        ? ["found", "new"][part]
        : from + wide / 2 < x(0)
          ? "negative"
          : "positive";
      svg.append(
        s("rect", {
          class: `fill-${classes}`,
          x: from,
          width: wide,
          y: y(base + n),
          height: y(base) - y(base + n),
        }),
      );
      base += n;
    });
  });
  for (const mark of ticks(-extent, extent, 6)) {
    svg.append(
      s("text", { x: x(mark), y: height - bottom + 16, "text-anchor": "middle" }, number(mark)),
    );
  }
  svg.append(
    s("text", { class: "axis", x: width - 10, y: height - 2, "text-anchor": "end" }, "weight"),
  );
  return svg;
}

/** Known targets found, known targets missed, new targets: one bar in three parts. */
function overlapBar({ found, missed, new: fresh }, width) {
  const parts = [
    ["missed", missed.length],
    ["found", found.length],
    ["new", fresh.length],
  ];
  const total = Math.max(1, sum(parts.map(([, n]) => n)));
  const height = 34;
  const svg = frame(width, height, parts.map(([name, n]) => `${n} ${name}`).join(", "));
  let at = 1;
  for (const [name, n] of parts) {
    if (!n) continue;
    const wide = Math.max(2, ((width - 2) * n) / total);
    svg.append(
      s("rect", {
        class: `fill-${name}`,
        x: at,
        y: 1,
        width: Math.max(1, wide - 2),
        height: height - 2,
        rx: 3,
      }),
    );
    at += wide;
  }
  return svg;
}
