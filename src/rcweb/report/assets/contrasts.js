// Changes of activity between groups of samples: a volcano plot and a table for each comparison.

const SIGNIFICANT = 0.05; // largest q of a result that is coloured

/** Rows of all comparisons: { r, c, change, lower, upper, t, p, q }. */
const CONTRASTS = DATA.contrasts.regulator.map((r, i) => {
  const at = (name) => DATA.contrasts[name][i];
  const numbers = { change: at("change"), lower: at("lower"), upper: at("upper"), t: at("t") };
  return { r, c: at("comparison"), ...numbers, p: at("p"), q: at("q") };
});
const isSignificant = ({ q }) => q !== null && q <= SIGNIFICANT;

function contrastsView(open) {
  const { comparisons, left_out } = DATA.contrasts;
  const hits = comparisons.map(
    (_, c) => CONTRASTS.filter((row) => row.c === c && isSignificant(row)).length,
  );
  // Most changes first: what one wants to look at.
  const order = comparisons.map((_, c) => c).sort((a, b) => hits[b] - hits[a]);
  const text = (c) => `${comparisons[c][0]} against ${comparisons[c][1]}`;
  const holder = h("div");
  const status = h("p", { class: "note", role: "status" });
  const choose = h(
    "select",
    { id: "contrast-choice", onchange: () => show(Number(choose.value)) },
    order.map((c) => h("option", { value: c }, `${text(c)} (${hits[c]})`)),
  );

  function show(c) {
    const rows = CONTRASTS.filter((row) => row.c === c).sort((a, b) => (a.p ?? 2) - (b.p ?? 2));
    status.textContent = `${count(hits[c])} of ${plural(rows.length, "regulator")} change at q ≤ ${SIGNIFICANT}.`;
    holder.replaceChildren(
      figure((width) => volcano(rows, text(c), width, open), {
        name: `contrast_${fileName(comparisons[c][0])}`,
        caption: "Each dot is a regulator; a click opens it.",
      }),
      contrastTable(rows, c, text(c), open),
    );
  }

  show(order[0]);
  return [
    h("label", { class: "field choice" }, "Compare (regulators that change)", choose),
    status,
    h("div", { class: "halves" }, holder),
    leftOut(left_out) ? h("p", { class: "note" }, leftOut(left_out)) : null,
    downloadButton("contrasts.tsv", contrastFile),
  ].filter((element) => element !== null);
}

const logChance = (p) => -Math.log10(Math.max(p ?? 1, 1e-300));

/** Change across, evidence upwards. */
function volcano(rows, title, width, open) {
  const [height, left, top, bottom] = [420, 44, 14, 40];
  const extent = Math.max(range(rows.map(({ change }) => Math.abs(change ?? 0)))[1], 1e-12) * 1.08;
  const most = Math.max(range(rows.map(({ p }) => logChance(p)))[1], 1) * 1.06;
  const x = scale([-extent, extent], [left + 6, width - 12]);
  const y = scale([0, most], [height - bottom, top]);
  const svg = frame(width, height, `Volcano plot of ${title}; the table has the same numbers.`);
  yAxis(svg, y, ticks(0, most, 6), left, width - 12);
  svg.append(s("line", { class: "zero", x1: x(0), x2: x(0), y1: top, y2: height - bottom }));
  for (const mark of ticks(-extent, extent, width < 480 ? 5 : 6))
    svg.append(
      s("text", { x: x(mark), y: height - bottom + 17, "text-anchor": "middle" }, number(mark)),
    );
  const dot = (row) => {
    const side = isSignificant(row) ? `fill-${row.change < 0 ? "negative" : "positive"}` : "plain";
    const name = fullName(REGULATORS[row.r]);
    return s("circle", {
      class: `dot clickable ${side}`,
      cx: x(row.change ?? 0),
      cy: y(logChance(row.p)),
      r: isSignificant(row) ? 5 : 3.5,
      onclick: () => open(row.r),
      onpointermove: (event) =>
        showTip(event, `${name}: ${number(row.change)}, q = ${chance(row.q)}`),
      onpointerleave: hideTip,
    });
  };
  svg.append(...[...rows].reverse().map(dot), ...volcanoLabels(rows, x, y, width));
  svg.append(
    s("text", { x: width - 12, y: height - 4, "text-anchor": "end" }, "change of activity"),
    s("text", { x: left + 8, y: top + 2 }, "−log₁₀ p"),
  );
  return svg;
}

/** Names of the surest, to the right or left of their dot, where they cover no dot and no name. */
function volcanoLabels(rows, x, y, width) {
  const at = (row) => [x(row.change ?? 0), y(logChance(row.p))];
  const taken = rows.map(at).map(([cx, cy]) => [cx - 5, cy - 5, cx + 5, cy + 5]);
  const free = ([x1, y1, x2, y2]) =>
    x1 > 44 && x2 < width && !taken.some((b) => x1 < b[2] && b[0] < x2 && y1 < b[3] && b[1] < y2);
  const labels = [];
  for (const row of rows.filter(isSignificant).slice(0, 20)) {
    const text = shorten(REGULATORS[row.r].label, 16);
    const long = 7.2 * text.length;
    const [cx, cy] = at(row);
    const box = [cx + 8, cx - 8 - long]
      .map((from) => [from, cy - 6, from + long, cy + 6])
      .find(free);
    if (!box) continue;
    taken.push(box);
    labels.push(s("text", { class: "strong", x: box[0], y: cy + 4 }, text));
  }
  return labels;
}

function contrastTable(rows, c, title, open) {
  const numeric = (name, value, cell) => ({
    title: name,
    file: name.toLowerCase(),
    numeric: true,
    value,
    cell,
  });
  const interval = ({ lower, upper }) =>
    lower === null ? "–" : `${number(lower)} to ${number(upper)}`;
  return sortableTable({
    caption: `Changes, ${title}`,
    columns: [
      {
        title: "Regulator",
        file: "regulator",
        value: ({ r }) => REGULATORS[r].label,
        cell: ({ r }) => button(REGULATORS[r].label, "link name", () => open(r)),
      },
      numeric("Change", ({ change }) => change),
      {
        ...numeric("Lower", ({ lower }) => lower, interval),
        title: "95 % interval",
        className: "wide",
      },
      { ...numeric("Upper", ({ upper }) => upper), fileOnly: true },
      { ...numeric("t", ({ t }) => t), className: "wide" },
      {
        ...numeric(
          "p",
          ({ p }) => p,
          ({ p }) => chanceShort(p),
        ),
        ascending: true,
        className: "wide",
      },
      {
        ...numeric(
          "q",
          ({ q }) => q,
          ({ q }) => chanceShort(q),
        ),
        ascending: true,
      },
    ],
    rows,
    file: `contrast_${fileName(DATA.contrasts.comparisons[c][0])}.tsv`,
    limit: 12,
  }).element;
}

const contrastFile = () => ({
  columns: [
    "regulator",
    "group",
    "reference",
    "change",
    "lower",
    "upper",
    "t",
    "p",
    "q",
    "regulator_name",
  ],
  rows: CONTRASTS.map(({ r, c, change, lower, upper, t, p, q }) => [
    REGULATORS[r].id,
    ...DATA.contrasts.comparisons[c],
    ...[change, lower, upper, t, p, q],
    REGULATORS[r].label,
  ]),
});
