// Lists of known targets that the fit was given: which the data support, and with which targets.

const LISTS = DATA.known_lists;
const SEEN = 0.5; // least probability of a target that counts as seen
const listFact = (list, name) => list.facts.find(([what]) => what === name)?.[1] ?? null;

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
  const supported = LISTS.filter((list) => list.supported).length;
  return [
    h(
      "p",
      { class: "prose" },
      `${count(supported)} of ${plural(LISTS.length, "list")} of known targets ${supported === 1 ? "is" : "are"} ` +
        "supported by the data. Choose a list to see its members and new targets.",
    ),
    listTable(open, show),
    chosen,
  ];
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
      { title: "Supported", file: "supported", value: ({ supported }) => supported },
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

/** The targets of one list in three tables. */
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
  return [h("h3", {}, list.name), h("div", { class: "thirds" }, LIST_STATES.map(table))];
}
