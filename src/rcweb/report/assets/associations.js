// How activities go with the columns of the sample sheet: a heat map and a table.

/** Rows: { r, c, statistic, effect, n, p, q }. */
const ASSOCIATIONS = DATA.associations.regulator.map((r, i) => {
  const at = (name) => DATA.associations[name][i];
  const numbers = { statistic: at("statistic"), effect: at("effect"), n: at("n") };
  return { r, c: at("column"), ...numbers, p: at("p"), q: at("q") };
});

const CELL = 18;

function associationsView(open) {
  const { columns, left_out } = DATA.associations;
  const hits = ASSOCIATIONS.filter(isSignificant);
  const chosen = h("div", { class: "chosen-cell", role: "status" });
  const choose = (row) => chosen.replaceChildren(...cellWords(row, open));
  chosen.append(
    h("p", { class: "note" }, "Choose a cell to read its numbers; a name opens the regulator."),
  );
  const table = associationTable(hits.length ? hits : ASSOCIATIONS, open);
  return [
    h(
      "p",
      { class: "prose" },
      `${plural(hits.length, "association")} of ${plural(columns.length, "column")} with activities at q ≤ ${SIGNIFICANT}. ` +
        `The darker the smaller q; blue rises with the column, orange falls, grey has no direction.${leftOut(left_out)}`,
    ),
    h(
      "div",
      { class: hits.length ? "halves" : null },
      h(
        "div",
        {},
        hits.length ? heatMapFigure(hits, choose, open) : null,
        h("div", {}, chosen, table),
      ),
    ),
    downloadButton("associations.tsv", associationFile),
  ];
}

function cellWords({ r, c, statistic, effect, n, p, q }, open) {
  const [title, kind] = DATA.associations.columns[c];
  const facts = [
    `effect ${number(effect)}`,
    `statistic ${cellText(statistic)}`,
    `${count(n ?? 0)} samples`,
  ];
  return [
    h(
      "p",
      {},
      button(fullName(REGULATORS[r]), "link name", () => open(r)),
      ` and ${title} (${kind}): ${facts.join(", ")}, p = ${chance(p)}, q = ${chance(q)}.`,
    ),
  ];
}

/** Regulators with a result, the surest first; columns in their own order. */
function heatMapOrder(hits) {
  const best = new Map();
  for (const { r, p } of hits) best.set(r, Math.min(best.get(r) ?? 1, p ?? 1));
  const rows = [...best].sort((a, b) => a[1] - b[1]).map(([r]) => r);
  const columns = [...new Set(hits.map(({ c }) => c))].sort((a, b) => a - b);
  return { rows, columns };
}

function heatMapFigure(hits, choose, open) {
  const draw = () => heatMap(hits, choose, open);
  const element = figure(draw, { name: "associations" });
  const box = h("div", {
    class: "map-box",
    tabindex: 0,
    role: "region",
    "aria-label": "Heat map of associations",
  });
  box.append(element.querySelector(".plot"));
  element.prepend(box);
  return element;
}

function heatMap(hits, choose, open) {
  const { rows, columns } = heatMapOrder(hits);
  const titles = columns.map((c) => shorten(DATA.associations.columns[c][0], 26));
  const left = 30 + 6.8 * Math.min(22, Math.max(...rows.map((r) => REGULATORS[r].label.length)));
  const top = 14 + 5 * Math.max(...titles.map((title) => title.length));
  const place = {
    row: new Map(rows.map((r, i) => [r, i])),
    column: new Map(columns.map((c, i) => [c, i])),
  };
  const width = left + columns.length * CELL + top;
  const svg = frame(
    width,
    top + rows.length * CELL + 4,
    "Heat map of associations; the table has the same numbers.",
  );
  columns.forEach((c, i) => {
    const [x, y] = [left + (i + 0.65) * CELL, top - 6];
    const full = s("title", {}, DATA.associations.columns[c][0]);
    svg.append(s("text", { x, y, transform: `rotate(-45 ${x} ${y})` }, titles[i], full));
  });
  rows.forEach((r, i) => {
    const y = top + i * CELL;
    svg.append(
      s("line", { class: "grid", x1: left, x2: left + columns.length * CELL, y1: y, y2: y }),
      s(
        "text",
        {
          class: "clickable",
          x: left - 8,
          y: y + 13,
          "text-anchor": "end",
          onclick: () => open(r),
        },
        shorten(REGULATORS[r].label, 22),
      ),
    );
  });
  for (const row of hits) {
    const strength = Math.min(1, 0.25 + logChance(row.q) / 13);
    svg.append(
      s("rect", {
        class: `clickable ${directionOf(row)}`,
        x: left + place.column.get(row.c) * CELL + 1,
        y: top + place.row.get(row.r) * CELL + 1,
        width: CELL - 2,
        height: CELL - 2,
        "fill-opacity": strength.toFixed(2),
        onclick: () => choose(row),
        onpointermove: (event) =>
          showTip(
            event,
            `${REGULATORS[row.r].label}, ${DATA.associations.columns[row.c][0]}: q = ${chance(row.q)}`,
          ),
        onpointerleave: hideTip,
      }),
    );
  }
  return svg;
}

/** Only a number has a direction: groups differ, they do not rise. */
function directionOf({ c, effect }) {
  const isNumber = /^(number|time)$/.test(DATA.associations.columns[c][1]);
  if (!isNumber || !effect) return "fill-node";
  return effect < 0 ? "fill-negative" : "fill-positive";
}

function associationTable(rows, open) {
  const title = ({ c }) => DATA.associations.columns[c][0];
  const numeric = (name, value, cell) => ({
    title: titled(name),
    file: name,
    numeric: true,
    value,
    cell,
  });
  return sortableTable({
    caption: "Associations",
    columns: [
      {
        title: "Regulator",
        file: "regulator",
        value: ({ r }) => REGULATORS[r].label,
        cell: ({ r }) => button(REGULATORS[r].label, "link name", () => open(r)),
      },
      { title: "Column", file: "column", value: title },
      {
        title: "Kind",
        file: "kind",
        className: "wide",
        value: ({ c }) => DATA.associations.columns[c][1],
      },
      numeric("effect", ({ effect }) => effect),
      { ...numeric("n", ({ n }) => n), title: "Samples", className: "wide" },
      {
        ...numeric(
          "q",
          ({ q }) => q,
          ({ q }) => chanceShort(q),
        ),
        title: "q",
        ascending: true,
      },
    ],
    rows: [...rows].sort((a, b) => (a.p ?? 2) - (b.p ?? 2)),
    file: "associations_shown.tsv",
    limit: 12,
  }).element;
}

const associationFile = () => ({
  columns: ["regulator", "column", "kind", "statistic", "effect", "n", "p", "q", "regulator_name"],
  rows: ASSOCIATIONS.map(({ r, c, statistic, effect, n, p, q }) => [
    REGULATORS[r].id,
    ...DATA.associations.columns[c],
    ...[statistic, effect, n, p, q],
    REGULATORS[r].label,
  ]),
});
