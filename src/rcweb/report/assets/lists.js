// Lists of known targets that the fit was given: which the data support, and with which targets.

const LISTS = DATA.known_lists;
const SEEN = 0.5; // least probability of a target that counts as seen
const listFact = (list, name) => list.facts.find(([what]) => what === name)?.[1] ?? null;
const LISTS_GROUPED = LISTS.every((list) => listFact(list, "grouped"));

/** [text, member of the list, test] of the three kinds of targets. */
const LIST_STATES = [
  ["Members seen", (listed, probability) => listed && probability >= SEEN],
  ["Members not seen", (listed, probability) => listed && !(probability >= SEEN)],
  ["New targets", (listed, probability) => !listed && probability >= SEEN],
];

function listsView(open, openGene) {
  const chosen = h("div", { class: "list-targets", tabindex: -1 });
  const show = (list) => {
    chosen.replaceChildren(...listTargets(list, openGene));
    chosen.scrollIntoView({ block: "nearest" });
  };
  return [
    h("p", { class: "prose" }, listsSummary()),
    listTable(open, show),
    chosen,
  ];
}

function listsSummary() {
  const supported = LISTS.filter((list) => list.supported).length;
  const all = `${count(supported)} of ${plural(LISTS.length, "list")} of known targets`;
  const choose = "Choose a list to see its activity, its members and new targets.";
  if (LISTS_GROUPED)
    return `${all} ${supported === 1 ? "is" : "are"} supported by the data. ${choose}`;
  return (
    `${all} ${supported === 1 ? "has" : "have"} members that vary together in these data. ` +
    `Genes of one operon or probes of one gene do so anyway: groups were not given. ${choose}`
  );
}

function listTable(open, show) {
  const numeric = (name, extra = {}) => ({
    title: name.length === 1 ? name : titled(name),
    file: name,
    numeric: true,
    value: (list) => listFact(list, name),
    ...extra,
  });
  const regulator = (list) =>
    list.regulator === null ? listFact(list, "regulator") : REGULATORS[list.regulator].label;
  const hidden = { className: "wide" };
  return sortableTable({
    caption: "Lists of known targets",
    columns: [
      {
        title: "List",
        file: "list",
        value: ({ name }) => name,
        cell: (list) => button(list.name, "link name", () => show(list)),
      },
      {
        title: LISTS_GROUPED ? "Supported" : "Together",
        file: "supported",
        value: ({ supported }) => supported,
      },
      numeric("p", { fileOnly: true }),
      numeric("q", { ascending: true, cell: (list) => chanceShort(listFact(list, "q")) }),
      numeric("reliability", hidden),
      numeric("strength", hidden),
      numeric("kept"),
      numeric("unseen", hidden),
      numeric("new"),
      {
        title: "Regulator",
        file: "regulator",
        ...hidden,
        value: regulator,
        cell: (list) =>
          list.regulator === null
            ? (regulator(list) ?? "–")
            : button(regulator(list), "link", () => open(list.regulator)),
      },
      {
        title: "Seen only with",
        file: "together",
        className: "wide text",
        value: (list) => listFact(list, "together"),
      },
      {
        title: "Evidence",
        file: "evidence",
        className: "wide text",
        value: (list) => listFact(list, "evidence"),
      },
    ],
    // What the data support first, the surest of it at the top.
    rows: [...LISTS].sort(
      (a, b) => b.supported - a.supported || (listFact(a, "p") ?? 1) - (listFact(b, "p") ?? 1),
    ),
    file: "known_lists.tsv",
    limit: 12,
  }).element;
}

/** The activity of one list, and its targets in three tables. */
function listTargets(list, openGene) {
  const rows = list.targets.map((gene, i) => ({
    gene,
    listed: list.listed[i],
    probability: list.probabilities[i],
    weight: list.weights[i],
  }));
  const table = ([title, holds]) => {
    const some = rows.filter(({ listed, probability }) => holds(listed, probability));
    const columns = [
      {
        title: "Target",
        file: "target",
        value: ({ gene }) => DATA.gene_labels[gene],
        cell: ({ gene }) => button(DATA.gene_labels[gene], "link", () => openGene(gene)),
      },
      {
        title: "Prob.",
        file: "probability",
        numeric: true,
        value: ({ probability }) => probability,
        cell: ({ probability }) => (probability === null ? "–" : probability.toFixed(3)),
      },
      { title: "Weight", file: "weight", numeric: true, value: ({ weight }) => weight },
    ];
    const file = `${fileName(list.name)}_${fileName(title.toLowerCase())}.tsv`;
    const caption = `${title} of ${list.name}`;
    return part(
      `${title} (${count(some.length)})`,
      sortableTable({ caption, columns, rows: some, file, limit: 10 }).element,
    );
  };
  return [
    h("h3", {}, list.name),
    ...(list.activities.length ? [activityPart(listActivity(list), "list-")] : []),
    h("div", { class: "thirds" }, LIST_STATES.map(table)),
  ];
}

/** A list as the drawing of activities wants it. */
const listActivity = ({ name, activities, std }) => ({
  id: name,
  label: name,
  activities,
  // One for all samples where nothing is missing.
  std: std.length === 1 ? activities.map(() => std[0]) : std,
});
