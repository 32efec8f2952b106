// Activity of a regulator or of a known list: by group where groups are known, and over the samples.
// `std`, where there is one, holds the standard deviation of the error of each activity.

const SAMPLE_ORDERS = [
  ["table", "samples, as in the table"],
  ["activity", "samples, by activity"],
];

/** Samples in the order asked for. */
function sampleOrder(order, activities) {
  const samples = activities.map((_, m) => m);
  return order === "activity" ? samples.sort((a, b) => activities[a] - activities[b]) : samples;
}

/** Half of the 95 % interval of the activity in sample m; 0 where no error is known. */
const halfInterval = (regulator) => (m) => (regulator.std ? 1.96 * regulator.std[m] : 0);

/** One point per sample, with its interval where errors are known. */
function activityChart(regulator, order, width) {
  const { activities } = regulator;
  const samples = sampleOrder(order, activities);
  const [height, left, top, bottom] = [240, 46, 10, 26];
  const half = halfInterval(regulator);
  const [low, high] = range([0, ...activities.flatMap((a, m) => [a - half(m), a + half(m)])]);
  const pad = 0.05 * (high - low || 1);
  const x = scale([0, Math.max(samples.length - 1, 1)], [left + 8, width - 12]);
  const y = scale([low - pad, high + pad], [height - bottom, top]);
  const svg = frame(
    width,
    height,
    `Activity of ${fullName(regulator)} in ${plural(samples.length, "sample")}.`,
  );
  yAxis(svg, y, ticks(low, high, 4), left, width - 12);
  const radius = Math.max(1.8, Math.min(4, (width - left) / samples.length));
  const interval = (m, i) =>
    s("line", {
      class: "interval faint",
      x1: x(i).toFixed(1),
      x2: x(i).toFixed(1),
      y1: y(activities[m] - half(m)).toFixed(1),
      y2: y(activities[m] + half(m)).toFixed(1),
    });
  const dots = samples.map((m, i) =>
    s("circle", {
      class: `dot fill-${activities[m] < 0 ? "negative" : "positive"}`,
      cx: x(i).toFixed(1),
      cy: y(activities[m]).toFixed(1),
      r: radius,
    }),
  );
  if (regulator.std) svg.append(...samples.map(interval));
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
    const error = regulator.std ? ` ± ${number(half(m))}` : "";
    showTip(event, `${DATA.samples[m]}${group}: ${number(activities[m])}${error}`);
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

// Kept from one regulator to the next.
let activityOrder = GROUPS.length > 1 ? "strength" : "table";

/** `prefix` of the ids, where a page has several. */
function activityPart(regulator, prefix = "") {
  const byGroup = GROUPS.length > 1;
  const means = byGroup ? groupMeans(regulator.activities) : [];
  const holder = h("div");
  const note = h("p", { class: "note" });
  const search = h("input", {
    type: "search",
    id: `${prefix}group-search`,
    placeholder: "part of a name",
    autocomplete: "off",
    oninput: draw,
  });

  function draw() {
    const isGroup = GROUP_ORDERS.some(([order]) => order === activityOrder);
    const wanted = search.value.trim().toLowerCase();
    const rows = orderGroups(means, activityOrder).filter(({ name }) =>
      name.toLowerCase().includes(wanted),
    );
    const name = `activity_${fileName(regulator.label)}`;
    searchField.hidden = !isGroup || GROUPS.length <= 12;
    note.textContent = activityNote(regulator, isGroup);
    holder.replaceChildren(
      isGroup && !rows.length
        ? h("p", { class: "note" }, "No group has this in its name.")
        : isGroup
          ? groupFigure(regulator, rows)
          : figure((width) => activityChart(regulator, activityOrder, width), { name }),
    );
  }

  const options = [...(byGroup ? GROUP_ORDERS : []), ...SAMPLE_ORDERS].map(([value, text]) =>
    h("option", { value, selected: value === activityOrder }, text),
  );
  const onchange = (event) => {
    activityOrder = event.target.value;
    draw();
  };
  const searchField = h("label", { class: "inline" }, "Find a group ", search);
  draw();
  return part(
    byGroup ? "Activity by group" : "Activity",
    h(
      "div",
      { class: "inline-fields" },
      h(
        "label",
        { class: "inline" },
        "Show ",
        h("select", { id: `${prefix}activity-order`, onchange }, options),
      ),
      searchField,
    ),
    holder,
    note,
    byGroup ? groupTable(regulator, orderGroups(means, "strength")) : null,
    downloadButton(`activity_${fileName(regulator.label)}.tsv`, () => ({
      columns: [
        "sample",
        ...(DATA.groups.length ? ["group"] : []),
        "activity",
        ...(regulator.std ? ["std"] : []),
      ],
      rows: DATA.samples.map((name, m) => [
        name,
        ...(DATA.groups.length ? [DATA.groups[m]] : []),
        regulator.activities[m],
        ...(regulator.std ? [regulator.std[m]] : []),
      ]),
    })),
  );
}

function activityNote(regulator, isGroup) {
  const drawn =
    DATA.samples.length < DATA.n_samples
      ? ` ${count(DATA.samples.length)} of ${count(DATA.n_samples)} samples are drawn and counted here.`
      : "";
  const how = isGroup
    ? "Dots are samples, the bar ends at their mean; the thin line is the 95 % interval of the mean, from the spread within all groups together. "
    : "";
  return how + errorNote(regulator, isGroup) + extremes(regulator) + drawn;
}

function errorNote({ std }, isGroup) {
  if (!std) return "";
  const [least, most] = range(std).map(number);
  const spread = least === most ? least : `${least} to ${most}`;
  const lines = isGroup ? "" : "Lines are 95 % intervals, where longer than a dot. ";
  return `${lines}The standard deviation of the error of one activity is ${spread}, that of the activity itself about 1. `;
}

function extremes(regulator) {
  const order = sampleOrder("activity", regulator.activities);
  const names = (samples) => samples.map((m) => DATA.samples[m]).join(", ");
  if (order.length < 6) return "";
  return `Highest in ${names(order.slice(-3).reverse())}; lowest in ${names(order.slice(0, 3))}.`;
}
