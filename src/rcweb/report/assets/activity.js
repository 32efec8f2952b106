// One regulator's activity: by group where groups are known, and over the samples.

const SAMPLE_ORDERS = [
  ["table", "samples, as in the table"],
  ["activity", "samples, by activity"],
];

/** Samples in the order asked for. */
function sampleOrder(order, activities) {
  const samples = activities.map((_, m) => m);
  return order === "activity" ? samples.sort((a, b) => activities[a] - activities[b]) : samples;
}

/** One point per sample. */
function activityChart(regulator, order, width) {
  const { activities } = regulator;
  const samples = sampleOrder(order, activities);
  const [height, left, top, bottom] = [240, 46, 10, 26];
  const [low, high] = range([0, ...activities]);
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
  const dots = samples.map((m, i) =>
    s("circle", {
      class: `dot fill-${activities[m] < 0 ? "negative" : "positive"}`,
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

// Kept from one regulator to the next.
let activityOrder = GROUPS.length > 1 ? "strength" : "table";

function activityPart(regulator) {
  const byGroup = GROUPS.length > 1;
  const means = byGroup ? groupMeans(regulator.activities) : [];
  const holder = h("div");
  const note = h("p", { class: "note" });
  const search = h("input", {
    type: "search",
    id: "group-search",
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
        h("select", { id: "activity-order", onchange }, options),
      ),
      searchField,
    ),
    holder,
    note,
    byGroup ? groupTable(regulator, orderGroups(means, "strength")) : null,
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

function activityNote(regulator, isGroup) {
  const drawn =
    DATA.samples.length < DATA.n_samples
      ? ` ${count(DATA.samples.length)} of ${count(DATA.n_samples)} samples are drawn and counted here.`
      : "";
  const how = isGroup
    ? "Dots are samples, the bar ends at their mean; the thin line is the 95 % interval of the mean, from the spread within all groups together. "
    : "";
  return how + extremes(regulator) + drawn;
}

function extremes(regulator) {
  const order = sampleOrder("activity", regulator.activities);
  const names = (samples) => samples.map((m) => DATA.samples[m]).join(", ");
  if (order.length < 6) return "";
  return `Highest in ${names(order.slice(-3).reverse())}; lowest in ${names(order.slice(0, 3))}.`;
}
