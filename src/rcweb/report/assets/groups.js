// One regulator's activity by group: a row each, with its samples, their mean and its interval.

/** Groups in the order of the sample sheet: [{ name, samples }]. */
const GROUPS = (() => {
  const members = new Map();
  DATA.groups.forEach((group, m) => {
    if (!members.has(group)) members.set(group, []);
    members.get(group).push(m);
  });
  return [...members].map(([name, samples]) => ({ name: name || "no group", samples }));
})();

const GROUP_ORDERS = [
  ["strength", "groups, strongest first"],
  ["mean", "groups, highest first"],
  ["sheet", "groups, in the order of the sheet"],
  ["name", "groups, by name"],
];

/** The 97.5 % point of Student's t: Fisher's expansion, from 3 degrees on less than 1 % too small. */
function tQuantile(df) {
  if (df <= 2) return [Infinity, 12.706, 4.303][df];
  const z = 1.959964;
  const first = (z ** 3 + z) / (4 * df);
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2);
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3);
  return z + first + second + third;
}

/** Mean of each group and its 95 % interval, from the spread within all groups together. */
function groupMeans(activities) {
  const rows = GROUPS.map(({ name, samples }) => {
    const values = samples.map((m) => activities[m]);
    return { name, samples, values, mean: mean(values) };
  });
  const df = activities.length - rows.length;
  const squares = sum(rows.map((row) => sum(row.values.map((x) => (x - row.mean) ** 2))));
  const spread = df > 0 ? Math.sqrt(squares / df) : null;
  return rows.map((row) => {
    const half = spread === null ? null : (tQuantile(df) * spread) / Math.sqrt(row.values.length);
    return {
      ...row,
      low: half === null ? null : row.mean - half,
      high: half === null ? null : row.mean + half,
    };
  });
}

function orderGroups(rows, order) {
  const by = {
    strength: (a, b) => Math.abs(b.mean) - Math.abs(a.mean),
    mean: (a, b) => b.mean - a.mean,
    name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
  }[order];
  return by ? [...rows].sort(by) : rows;
}

const ROW_HEIGHT = 22;
const AXIS_HEIGHT = 24;

/** What axis and rows share: where labels end and where a value lies. */
function groupScale(rows, width) {
  const longest = range([46, ...rows.map(({ name }) => textWidth(name))])[1];
  const left = Math.min(longest + 16, 0.42 * width, 260);
  const ends = rows.flatMap(({ values, low, high, mean: middle }) => [
    ...values,
    low ?? middle,
    high ?? middle,
  ]);
  const [lowest, highest] = range([0, ...ends]);
  const pad = 0.03 * (highest - lowest || 1);
  const x = scale([lowest - pad, highest + pad], [left, width - 14]);
  return { left, x, marks: ticks(lowest, highest, width < 480 ? 4 : 6) };
}

function groupAxis({ x, marks }) {
  return s(
    "g",
    {},
    marks.map((mark) => s("text", { x: x(mark), y: 16, "text-anchor": "middle" }, number(mark))),
  );
}

function groupRows(rows, { left, x, marks }, width) {
  const height = rows.length * ROW_HEIGHT;
  const grid = marks.map((mark) =>
    s("line", { class: mark === 0 ? "zero" : "grid", x1: x(mark), x2: x(mark), y1: 0, y2: height }),
  );
  const line = ({ name, values, mean: middle, low, high }, i) => {
    const y = (i + 0.5) * ROW_HEIGHT;
    const side = middle < 0 ? "negative" : "positive";
    // Many samples would cover each other in one line; steps of the golden ratio fill a band evenly.
    const shift = (k) => (values.length > 12 ? (((k * 0.618) % 1) - 0.5) * 14 : 0);
    const [from, to] = [x(0), x(middle)].sort((a, b) => a - b);
    return [
      s("rect", {
        class: "hit",
        x: 0,
        width,
        y: y - ROW_HEIGHT / 2,
        height: ROW_HEIGHT,
        fill: "none",
      }),
      s(
        "text",
        { class: "label", x: left - 10, y: y + 4, "text-anchor": "end" },
        fitText(name, left - 14),
        s("title", {}, name),
      ),
      s("rect", {
        class: `mean-bar fill-${side}`,
        x: from,
        width: Math.max(to - from, 0.5),
        y: y - 5,
        height: 10,
      }),
      low === null ? null : s("line", { class: "interval", x1: x(low), x2: x(high), y1: y, y2: y }),
      s("line", { class: "middle", x1: x(middle), x2: x(middle), y1: y - 7, y2: y + 7 }),
      values.map((value, k) =>
        s("circle", { class: `dot fill-${side}`, cx: x(value), cy: y + shift(k), r: 2.8 }),
      ),
    ];
  };
  return s("g", {}, grid, rows.map(line).flat(2).filter(Boolean));
}

function groupTip({ name, samples, mean: middle, low, high }) {
  const interval = low === null ? "" : ` (${number(low)} to ${number(high)})`;
  const names = samples.slice(0, 4).map((m) => DATA.samples[m]);
  const rest = samples.length > 4 ? ` and ${count(samples.length - 4)} more` : "";
  return `${name}: mean ${number(middle)}${interval}; ${names.join(", ")}${rest}`;
}

/** The drawing: an axis that stays, and rows that scroll below it. */
function groupFigure(regulator, rows) {
  const label = `Mean activity of ${fullName(regulator)} in ${plural(rows.length, "group")}.`;
  const axis = h("div", { class: "plot axis-box" });
  const box = h("div", { class: "rows-box", tabindex: 0, role: "region", "aria-label": label });
  const body = (width) => {
    const shared = groupScale(rows, width);
    const top = frame(width, AXIS_HEIGHT, "Axis of activity");
    top.append(groupAxis(shared));
    axis.replaceChildren(top);
    const svg = frame(width, Math.max(1, rows.length) * ROW_HEIGHT, label);
    svg.append(groupRows(rows, shared, width));
    svg.addEventListener("pointermove", (event) => {
      const i = Math.floor((event.clientY - svg.getBoundingClientRect().top) / ROW_HEIGHT);
      if (rows[i]) showTip(event, groupTip(rows[i]));
    });
    svg.addEventListener("pointerleave", hideTip);
    return svg;
  };
  const whole = (width) => {
    const shared = groupScale(rows, width);
    const svg = frame(width, AXIS_HEIGHT + rows.length * ROW_HEIGHT + 6, label);
    const moved = s(
      "g",
      { transform: `translate(0 ${AXIS_HEIGHT})` },
      groupRows(rows, shared, width),
    );
    svg.append(groupAxis(shared), moved);
    return svg;
  };
  const element = figure(body, { name: `activity_${fileName(regulator.label)}`, whole });
  box.append(element.querySelector(".plot"));
  element.prepend(axis, box);
  return element;
}

/** The same numbers as a table, made when it is opened. */
function groupTable(regulator, rows) {
  const columns = [
    { title: "Group", file: "group", value: (row) => row.name },
    { title: "Mean", file: "mean", numeric: true, value: (row) => row.mean },
    { title: "Lower", file: "lower", numeric: true, value: (row) => row.low },
    { title: "Upper", file: "upper", numeric: true, value: (row) => row.high },
    { title: "Samples", file: "n_samples", numeric: true, value: (row) => row.samples.length },
  ];
  const file = `groups_${fileName(regulator.label)}.tsv`;
  const caption = `Activity of ${fullName(regulator)} by group`;
  return onOpen(
    "As a table",
    () => sortableTable({ caption, columns, rows, file, limit: 15 }).element,
  );
}
