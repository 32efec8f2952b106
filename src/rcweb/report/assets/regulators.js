// The list of regulators: search, sort, choose.

/** Everything a reader might search a regulator by, in lower case. */
const SEARCHABLE = REGULATORS.map((regulator) => {
  const own = [regulator.id, regulator.label, regulator.known?.name, regulator.known?.description];
  const names = regulator.candidates.filter(({ q }) => q !== null && q <= 0.05);
  const terms = regulator.terms.rows.map((row) => termName(regulator.terms, row));
  const targets = regulator.targets.flatMap((gene) => [DATA.genes[gene], DATA.gene_labels[gene]]);
  return [...own, ...names.map(({ name }) => name), ...terms, ...targets]
    .filter(Boolean)
    .join("\n")
    .toLowerCase();
});

/** A number of the diagnosis, or null. */
function diagnosed(regulator, name) {
  const entry = regulator.diagnosis.find(([what]) => what === name);
  return entry && typeof entry[1] === "number" ? entry[1] : null;
}

function regulatorColumns(open) {
  const name = (r) =>
    h(
      "button",
      { type: "button", class: "link name", onclick: () => open(r) },
      REGULATORS[r].label,
      REGULATORS[r].label === REGULATORS[r].id ? null : h("small", {}, ` ${REGULATORS[r].id}`),
    );
  const columns = [
    { title: "Regulator", file: "regulator", value: (r) => REGULATORS[r].label, cell: name },
    ...(ANY_GRADE
      ? [
          {
            title: "Grade",
            file: "grade",
            value: (r) => REGULATORS[r].grade,
            cell: (r) => gradeBadge(REGULATORS[r].grade),
          },
        ]
      : []),
    {
      title: "Targets",
      file: "targets",
      numeric: true,
      value: (r) => REGULATORS[r].targets.length,
    },
  ];
  const share = (r) => diagnosed(REGULATORS[r], "variance_share");
  if (REGULATORS.some((_, r) => share(r) !== null)) {
    columns.push({
      title: "Variance",
      file: "variance_share",
      className: "wide",
      numeric: true,
      value: share,
      cell: (r) => (share(r) === null ? "–" : percent(share(r), 1)),
    });
  }
  if (ANY_KNOWN) {
    const known = (r) => REGULATORS[r].known;
    const overlap = (r) =>
      known(r)?.overlap == null ? "–" : `${known(r).overlap} / ${known(r).set_size ?? "?"}`;
    columns.push(
      {
        title: "Known",
        file: "known_found",
        className: "wide",
        numeric: true,
        value: (r) => known(r)?.overlap ?? null,
        cell: overlap,
      },
      {
        title: "q",
        file: "q",
        numeric: true,
        ascending: true,
        value: (r) => known(r)?.q ?? null,
        cell: (r) => chanceShort(known(r)?.q ?? null),
      },
    );
  } else {
    const strongest = (r) =>
      REGULATORS[r].targets.slice(0, 3).map((gene) => DATA.gene_labels[gene]);
    columns.push({
      title: "Strongest targets",
      file: "strongest_targets",
      className: "clip",
      value: (r) => strongest(r).join(", "),
    });
  }
  return columns;
}

/** The full table of regulators for a file, with the diagnosis. */
function regulatorTable() {
  const extra = REGULATORS[0]?.diagnosis.map(([what]) => what) ?? [];
  return {
    columns: [
      "regulator",
      "name",
      "targets",
      "grade",
      "known",
      "overlap",
      "set_size",
      "p",
      "q",
      "top_term",
      "why_no_name",
      ...extra,
    ],
    rows: REGULATORS.map(({ id, label, targets, grade, known, terms, unnamed, diagnosis }) => [
      id,
      label,
      targets.length,
      grade,
      known?.name,
      known?.overlap,
      known?.set_size,
      known?.p,
      known?.q,
      terms.rows.length ? termName(terms, terms.rows[0]) : null,
      unnamed,
      ...diagnosis.map(([, value]) => value),
    ]),
  };
}

/** Variables whose name or id holds the text, as links. */
function geneMatches(text, openGene, most = 6) {
  if (text.length < 2) return [];
  const genes = findNodes(text, Infinity).filter(({ kind }) => kind === "gene");
  if (!genes.length) return [];
  const link = ({ index }) => button(DATA.gene_labels[index], "link", () => openGene(index));
  const rest = genes.length > most ? [h("span", {}, `and ${count(genes.length - most)} more`)] : [];
  return ["Variables: ", ...genes.slice(0, most).map(link), ...rest];
}

function regulatorList(holder, open, openGene) {
  const all = REGULATORS.map((_, r) => r);
  let chosen = -1;
  let grade = "";
  const table = sortableTable({
    caption: "Regulators",
    columns: regulatorColumns(open),
    rows: all,
    limit: Infinity,
    rowAttributes: (r) => ({ "data-regulator": r, "aria-current": r === chosen ? "true" : null }),
  });
  const found = h("p", { class: "note", role: "status" }, plural(all.length, "regulator"));
  const search = h("input", {
    type: "search",
    id: "regulator-search",
    placeholder: "regulator, variable or term",
    autocomplete: "off",
    oninput: filter,
  });
  const genes = h("p", { class: "note links" });

  function filter() {
    const wanted = search.value.trim().toLowerCase();
    const rows = all.filter(
      (r) => SEARCHABLE[r].includes(wanted) && (!grade || REGULATORS[r].grade === grade),
    );
    table.setRows(rows);
    genes.replaceChildren(...geneMatches(wanted, openGene));
    found.textContent =
      wanted || grade
        ? `${count(rows.length)} of ${plural(all.length, "regulator")}`
        : plural(all.length, "regulator");
  }

  const grades = gradeFilter((chosenGrade) => {
    grade = chosenGrade;
    filter();
  });
  table.element.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-regulator]");
    if (row && !event.target.closest("button")) open(Number(row.dataset.regulator));
  });
  holder.append(
    h("div", { class: "list-fields" }, h("label", { class: "field" }, "Search", search), grades),
    found,
    genes,
    table.element,
    downloadButton("regulators.tsv", regulatorTable),
  );
  return (r) => {
    chosen = r;
    for (const row of table.element.querySelectorAll("tr[data-regulator]")) {
      if (Number(row.dataset.regulator) === r) {
        row.setAttribute("aria-current", "true");
        const box = row.closest(".scroll");
        // Only the list scrolls, never the page.
        if (
          row.offsetTop < box.scrollTop ||
          row.offsetTop > box.scrollTop + box.clientHeight - 60
        ) {
          box.scrollTop = row.offsetTop - box.clientHeight / 2;
        }
      } else row.removeAttribute("aria-current");
    }
  };
}
