// Factors that were measured in some samples, and the regulators they turned out to be.

function measuredView(open) {
  const { columns, rows } = DATA.measured;
  const of = (name) => (row) => row[columns.indexOf(name)];
  const link = (id) => {
    const r = REGULATORS.findIndex((regulator) => regulator.id === id);
    return r < 0 ? id : button(fullName(REGULATORS[r]), "link name", () => open(r));
  };
  const found = rows.filter(of("regulator")).length;
  const interval = (row) => {
    const [scale, low, high] = ["scale", "scale_low", "scale_high"].map((name) => of(name)(row));
    if (scale === null) return "–";
    return low === null ? number(scale) : `${number(scale)} (${number(low)} to ${number(high)})`;
  };
  const numeric = (title, name, cell) => ({
    title,
    file: name,
    value: of(name),
    numeric: true,
    cell,
    className: "wide",
  });
  const table = sortableTable({
    caption: "Measured regulators",
    rows,
    columns: [
      { title: "Factor", file: "factor", value: of("factor") },
      {
        title: "Regulator",
        file: "regulator",
        value: of("regulator"),
        cell: (row) => (of("regulator")(row) ? link(of("regulator")(row)) : "none fits"),
      },
      { ...numeric("Correlation", "correlation"), className: null },
      numeric("Samples", "n_samples"),
      {
        ...numeric("q", "q", (row) => chanceShort(of("q")(row))),
        ascending: true,
        className: null,
      },
      numeric("Confidence", "confidence"),
      numeric("Scale (95 % interval)", "scale", interval),
      { title: "Why", file: "reason", value: of("reason"), className: "wide text" },
    ],
  });
  return [
    h(
      "p",
      { class: "prose" },
      `${count(found)} of ${plural(rows.length, "measured factor")} ${found === 1 ? "is" : "are"} ` +
        "found among the regulators, by correlation over the samples in which they were measured. " +
        "A factor stays without one where chance cannot be excluded or another regulator fits nearly as well.",
    ),
    table.element,
    downloadButton("measured.tsv", () => DATA.measured),
  ];
}
