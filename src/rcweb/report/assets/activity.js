// One regulator's activity over the samples.

const PALETTE = ["g1", "g2", "g3", "g4", "g5", "g6", "g7", "g8"];

/** Which groups get a colour: all if they are few, else those in which the regulator is strongest. */
function groupColours(activities) {
  const byGroup = new Map();
  DATA.groups.forEach((group, m) => {
    if (!byGroup.has(group)) byGroup.set(group, []);
    byGroup.get(group).push(activities[m]);
  });
  const names = [...byGroup.keys()];
  if (names.length <= PALETTE.length) return new Map(names.map((name, i) => [name, PALETTE[i]]));
  const strength = (name) => Math.abs(mean(byGroup.get(name)));
  const strongest = [...names].sort((a, b) => strength(b) - strength(a)).slice(0, 7);
  return new Map(strongest.map((name, i) => [name, PALETTE[i]]));
}

/** Samples in the order asked for: as in the table, by group, or by activity. */
function sampleOrder(order, activities) {
  const samples = activities.map((_, m) => m);
  if (order === "activity") return samples.sort((a, b) => activities[a] - activities[b]);
  if (order !== "group") return samples;
  const first = new Map();
  DATA.groups.forEach((group, m) => first.has(group) || first.set(group, m));
  return samples.sort((a, b) => first.get(DATA.groups[a]) - first.get(DATA.groups[b]) || a - b);
}

/** One point per sample. */
function activityChart(regulator, order, width) {
  const { activities } = regulator;
  const samples = sampleOrder(order, activities);
  const colours = groupColours(activities);
  const [height, left, top, bottom] = [240, 46, 10, 26];
  const low = Math.min(0, ...activities);
  const high = Math.max(0, ...activities);
  const pad = 0.05 * (high - low || 1);
  const x = scale([0, Math.max(samples.length - 1, 1)], [left + 8, width - 12]);
  const y = scale([low - pad, high + pad], [height - bottom, top]);
  const svg = frame(
    width,
    height,
    `Activity of ${fullName(regulator)} in ${plural(samples.length, "sample")}.`,
  );
  if (order === "group") groupBands(svg, samples, x, top, height - bottom);
  yAxis(svg, y, ticks(low, high, 4), left, width - 12);
  const radius = Math.max(1.8, Math.min(4, (width - left) / samples.length));
  const dots = samples.map((m, i) =>
    s("circle", {
      class: `dot ${colours.get(DATA.groups[m]) ?? "plain"}`,
      cx: x(i).toFixed(1),
      cy: y(activities[m]).toFixed(1),
      r: radius,
    }),
  );
  svg.append(...dots);
  const nearest = (event) => {
    const box = svg.getBoundingClientRect();
    const place = (event.clientX - box.left - x(0)) / (x(1) - x(0) || 1);
    return Math.max(0, Math.min(samples.length - 1, Math.round(place)));
  };
  svg.addEventListener("pointermove", (event) => {
    const i = nearest(event);
    const m = samples[i];
    svg.querySelector(".dot.over")?.classList.remove("over");
    dots[i].classList.add("over");
    const group = DATA.groups.length ? ` · ${DATA.groups[m]}` : "";
    showTip(event, `${DATA.samples[m]}${group}: ${number(activities[m])}`);
  });
  svg.addEventListener("pointerleave", hideTip);
  svg.append(
    s(
      "text",
      { class: "axis", x: width - 12, y: height - 4, "text-anchor": "end" },
      `${count(samples.length)} samples`,
    ),
  );
  return svg;
}

function groupBands(svg, samples, x, top, bottom) {
  const half = (x(1) - x(0)) / 2;
  let start = 0;
  let shaded = true;
  samples.forEach((m, i) => {
    if (i + 1 < samples.length && DATA.groups[samples[i + 1]] === DATA.groups[m]) return;
    if (shaded) {
      const from = x(start) - half;
      svg.append(
        s("rect", {
          class: "band",
          x: from,
          y: top,
          width: x(i) + half - from,
          height: bottom - top,
        }),
      );
    }
    shaded = !shaded;
    start = i + 1;
  });
}

let sampleOrdering = DATA.groups.length ? "group" : "table";

function activityPart(regulator) {
  const holder = h("div");
  const draw = () =>
    holder.replaceChildren(figure((width) => activityChart(regulator, sampleOrdering, width)));
  const choices = [
    ["table", "as in the table"],
    ...(DATA.groups.length ? [["group", "by group"]] : []),
    ["activity", "by activity"],
  ];
  const choose = h(
    "select",
    {
      onchange: (event) => {
        sampleOrdering = event.target.value;
        draw();
      },
    },
    choices.map(([value, text]) =>
      h("option", { value, selected: value === sampleOrdering }, text),
    ),
  );
  draw();
  const drawn =
    DATA.samples.length < DATA.n_samples
      ? ` ${count(DATA.samples.length)} of ${count(DATA.n_samples)} samples are drawn.`
      : "";
  return part(
    "Activity over samples",
    h("label", { class: "inline" }, "Samples ", choose),
    holder,
    legend(regulator),
    h("p", { class: "note" }, extremes(regulator) + drawn),
    downloadButton(`activity_${fileName(regulator.label)}.tsv`, () => ({
      columns: ["sample", ...(DATA.groups.length ? ["group"] : []), "activity"],
      rows: DATA.samples.map((name, m) => [
        name,
        ...(DATA.groups.length ? [DATA.groups[m]] : []),
        regulator.activities[m],
      ]),
    })),
  );
}

function legend(regulator) {
  if (!DATA.groups.length) return null;
  const colours = groupColours(regulator.activities);
  const items = [...colours].map(([group, name]) =>
    h("li", {}, h("i", { class: `swatch ${name}` }), group || "no group"),
  );
  const all = new Set(DATA.groups).size;
  if (all > colours.size)
    items.push(
      h(
        "li",
        {},
        h("i", { class: "swatch plain" }),
        `${all - colours.size} groups with weaker mean activity`,
      ),
    );
  return h("ul", { class: "legend" }, items);
}

function extremes(regulator) {
  const order = sampleOrder("activity", regulator.activities);
  const names = (samples) => samples.map((m) => DATA.samples[m]).join(", ");
  if (order.length < 6) return "";
  return `Highest in ${names(order.slice(-3).reverse())}; lowest in ${names(order.slice(0, 3))}.`;
}
