// The list of regulators: search, sort, choose.

/** Everything a reader might search a regulator by, in lower case. */
const SEARCHABLE = REGULATORS.map((regulator) => {
  const own = [regulator.id, regulator.label, regulator.known?.name, regulator.known?.description];
  const terms = regulator.terms.rows.map((row) => termName(regulator.terms, row));
  const targets = regulator.targets.flatMap((gene) => [DATA.genes[gene], DATA.gene_labels[gene]]);
  return [...own, ...terms, ...targets].filter(Boolean).join("\n").toLowerCase();
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
      "known",
      "overlap",
      "set_size",
      "p",
      "q",
      "top_term",
      ...extra,
    ],
    rows: REGULATORS.map(({ id, label, targets, known, terms, diagnosis }) => [
      id,
      label,
      targets.length,
      known?.name,
      known?.overlap,
      known?.set_size,
      known?.p,
      known?.q,
      terms.rows.length ? termName(terms, terms.rows[0]) : null,
      ...diagnosis.map(([, value]) => value),
    ]),
  };
}

function regulatorList(holder, open) {
  const all = REGULATORS.map((_, r) => r);
  let chosen = -1;
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
    placeholder: "name, target or term",
    autocomplete: "off",
    oninput: () => {
      const wanted = search.value.trim().toLowerCase();
      const rows = all.filter((r) => SEARCHABLE[r].includes(wanted));
      table.setRows(rows);
      found.textContent = wanted
        ? `${count(rows.length)} of ${plural(all.length, "regulator")}`
        : plural(all.length, "regulator");
    },
  });
  table.element.addEventListener("click", (event) => {
    const row = event.target.closest("tr[data-regulator]");
    if (row && !event.target.closest("button")) open(Number(row.dataset.regulator));
  });
  holder.append(
    h("label", { class: "field" }, "Search regulators", search),
    found,
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
