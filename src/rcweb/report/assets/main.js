// The page: theme, summary figures, choice of the number of regulators, files, and who is open.

function theme() {
  const toggle = byId("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("rcweb-theme");
    } catch {
      return null; // a browser may forbid storage to local files
    }
  };
  let chosen = stored();
  const isDark = () => (chosen ? chosen === "dark" : system.matches);
  function apply() {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    toggle.textContent = isDark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    document.dispatchEvent(new Event("themechange"));
  }
  toggle.addEventListener("click", () => {
    chosen = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("rcweb-theme", chosen);
    } catch {
      // the choice then lasts as long as the page
    }
    apply();
  });
  system.addEventListener("change", apply);
  apply();
}

function summary() {
  const edges = EDGES.length;
  const named = REGULATORS.filter(({ label, id }) => label !== id).length;
  const figures = [
    [count(REGULATORS.length), "regulators"],
    ...(ANY_GRADE
      ? [[count(REGULATORS.filter(({ grade }) => grade === "certified").length), "certified"]]
      : []),
    ...(ANY_KNOWN || named ? [[count(named), "with a known name"]] : []),
    [count(edges), "edges"],
    [count(DATA.genes.length), "variables"],
    [count(DATA.n_samples), "samples"],
    ...(DATA.explained_variance === null
      ? []
      : [[percent(Math.max(0, DATA.explained_variance)), "of the variance explained"]]),
  ];
  byId("figures").append(
    ...figures.map(([value, what]) => h("div", {}, h("dd", {}, value), h("dt", {}, what))),
  );
  byId("warnings").append(
    ...DATA.warnings.map((text) => h("p", { class: "warning" }, h("strong", {}, "Note. "), text)),
  );
}

function choice() {
  byId("choice-view").append(
    ...[
      DATA.reason ? h("p", { class: "prose" }, DATA.reason) : null,
      DATA.singular_values.length
        ? figure(spectrumChart, {
            name: "singular_values",
            caption: "Singular values of the table, on a log scale.",
          })
        : null,
      DATA.evidence.rows.length
        ? h(
            "details",
            {},
            h("summary", {}, "Evidence"),
            plainTable("Evidence for the number of regulators", DATA.evidence, "evidence.tsv"),
          )
        : null,
      DATA.singular_values.length
        ? downloadButton("singular_values.tsv", () => ({
            columns: ["rank", "singular_value"],
            rows: DATA.singular_values.map((value, i) => [i + 1, value]),
          }))
        : null,
    ].filter((element) => element !== null),
  );
}

/** Name and id in one heading, as in the file that the fit wrote. */
const labelled = ({ id, label }) => (label === id ? id : `${label} (${id})`);

function activityTable() {
  const group = DATA.groups.length ? ["group"] : [];
  return {
    columns: ["sample", ...group, ...REGULATORS.map(labelled)],
    rows: DATA.samples.map((name, m) => [
      name,
      ...(group.length ? [DATA.groups[m]] : []),
      ...REGULATORS.map(({ activities }) => activities[m]),
    ]),
  };
}

function termTable() {
  const columns = REGULATORS.find(({ terms }) => terms.rows.length)?.terms.columns ?? [];
  return {
    columns: ["regulator", ...columns, "regulator_name"],
    rows: REGULATORS.flatMap(({ id, label, terms }) =>
      terms.rows.map((row) => [id, ...row, label]),
    ),
  };
}

function facts(pairs, name = titled) {
  return h(
    "dl",
    { class: "facts" },
    pairs.map(([what, value]) => h("div", {}, h("dt", {}, name(what)), h("dd", {}, value))),
  );
}

function inputView() {
  if (!DATA.input.length) return;
  byId("input-view").append(
    facts(DATA.input, (what) => what), // some are names of files
    ...DATA.input_notes.map((text) => h("p", { class: "prose" }, text)),
    downloadButton("input.tsv", () => ({ columns: ["what", "value"], rows: DATA.input })),
  );
  byId("input").hidden = false;
}

function filesView() {
  const files = [
    ["network.tsv", "all edges, the surest first", () => edgeTable(EDGES)],
    ["regulators.tsv", "one row per regulator, with its diagnosis", regulatorTable],
    ["activities.tsv", "samples by regulators", activityTable],
    ...(CONTRASTS.length
      ? [["contrasts.tsv", "changes of activity between groups", contrastFile]]
      : []),
    ...(ASSOCIATIONS.length
      ? [["associations.tsv", "activities and columns of the sample sheet", associationFile]]
      : []),
    ...(DATA.measured.rows.length
      ? [["measured.tsv", "measured factors and their regulators", () => DATA.measured]]
      : []),
    ...(REGULATORS.some(({ terms }) => terms.rows.length)
      ? [["terms.tsv", "enriched terms of all regulators", termTable]]
      : []),
  ];
  byId("files-view").append(
    h(
      "ul",
      { class: "files" },
      files.map(([name, what, table]) => h("li", {}, downloadButton(name, table), " ", what)),
    ),
    h(
      "p",
      { class: "note" },
      "Numbers in this page have four significant digits; the files written beside it have all of them.",
    ),
    ...(DATA.provenance.length
      ? [
          facts(DATA.provenance),
          downloadButton("provenance.tsv", () => ({
            columns: ["what", "value"],
            rows: DATA.provenance,
          })),
        ]
      : []),
  );
}

theme();
summary();
choice();
inputView();
filesView();

const detail = byId("detail");
const markRow = regulatorList(byId("regulator-list"), openRegulator, openGene);
const showTab = analysesView();
const network = networkView(byId("network-view"), openRegulator, openGene);
document.addEventListener("themechange", network.redraw);

function analysesView() {
  const tabs = analyses(openRegulator, openGene);
  byId("analyses").hidden = !tabs.length;
  document.querySelector('nav a[href="#analyses"]').hidden = !tabs.length;
  return analysisTabs(byId("analyses-view"), tabs);
}

/** Scroll to a part of the page and let the keyboard go on from there. */
function goTo(element) {
  element.scrollIntoView({ block: "start" });
  element.focus({ preventScroll: true });
}

// The regulator that was open last; the way back from a variable.
let lastOpen = -1;

function fillDetail(elements) {
  hideTip();
  detail.replaceChildren(...elements.filter((element) => element !== null));
}

function showRegulator(r) {
  lastOpen = r;
  const showInNetwork = (index) => showNode({ kind: "regulator", index });
  fillDetail(detailView(r, { open: openRegulator, openGene, showInNetwork }));
  markRow(r);
}

function showGene(gene) {
  const r = lastOpen;
  const back = r < 0 ? null : () => openRegulator(r);
  fillDetail(geneView(gene, { open: openRegulator, showInNetwork: showNode, back }));
  markRow(-1);
}

function showNode(node) {
  goTo(byId("network-canvas"));
  network.show(node);
}

/** What is opened is in the address, so that it can be linked to and gone back from. */
function openAddress(address) {
  if (location.hash === address) goTo(detail);
  else location.hash = address;
}

function openRegulator(r) {
  openAddress(`#regulator=${encodeURIComponent(REGULATORS[r].id)}`);
}

function openGene(gene) {
  openAddress(`#gene=${encodeURIComponent(DATA.genes[gene])}`);
}

/** Show what the address names; whether it names something. */
function followAddress() {
  const [, kind, name] = /^#(regulator|gene)=(.*)$/.exec(location.hash) ?? [];
  if (!kind && showTab(location.hash.slice(1))) {
    goTo(byId("analyses"));
    return false;
  }
  const ids = kind === "gene" ? DATA.genes : REGULATORS.map(({ id }) => id);
  const index = kind ? ids.findIndex((id) => encodeURIComponent(id) === name) : -1;
  if (index < 0) return false;
  (kind === "gene" ? showGene : showRegulator)(index);
  goTo(detail);
  return true;
}

/** The regulator to open first: the surest of those with a name, else the first. */
function mostTelling() {
  const chanceOf = (r) => REGULATORS[r].known?.p ?? 1;
  const named = REGULATORS.map((_, r) => r).filter((r) => REGULATORS[r].label !== REGULATORS[r].id);
  return named.reduce((best, r) => (chanceOf(r) < chanceOf(best) ? r : best), named[0] ?? 0);
}

window.addEventListener("hashchange", followAddress);
if (!followAddress() && REGULATORS.length) showRegulator(mostTelling());
