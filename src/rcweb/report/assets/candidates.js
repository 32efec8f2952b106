// Known regulators that this one may be, with the evidence for each.

function candidatesPart(regulator) {
  const { candidates, targets, label } = regulator;
  if (!candidates.length) return null;
  const share = (part, whole) => (part === null || !whole ? null : part / whole);
  const precision = ({ overlap }) => share(overlap, targets.length);
  const recall = ({ overlap, set_size }) => share(overlap, set_size);
  const percentOf = (of) => (row) => (of(row) === null ? "–" : percent(of(row)));
  const columns = [
    { title: "Known", file: "known", value: ({ name }) => name },
    {
      title: "Overlap",
      file: "overlap",
      numeric: true,
      value: ({ overlap }) => overlap,
      cell: ({ overlap, set_size }) =>
        overlap === null ? "–" : `${count(overlap)} / ${set_size ?? "?"}`,
    },
    {
      title: "Precision",
      file: "precision",
      numeric: true,
      value: precision,
      cell: percentOf(precision),
    },
    { title: "Recall", file: "recall", numeric: true, value: recall, cell: percentOf(recall) },
    {
      title: "q",
      file: "q",
      numeric: true,
      ascending: true,
      value: ({ q }) => q,
      cell: ({ q }) => chanceShort(q),
    },
  ];
  if (candidates.some(({ description }) => description)) {
    columns.splice(1, 0, {
      title: "Description",
      file: "description",
      className: "wide text",
      value: ({ description }) => description || null,
    });
  }
  const table = sortableTable({
    caption: `Known regulators that ${fullName(regulator)} may be`,
    columns,
    rows: candidates,
    file: `candidates_${fileName(label)}.tsv`,
  });
  return part(
    "Candidate names",
    table.element,
    h(
      "p",
      { class: "note" },
      "Precision: share of its targets that are known; recall: share of the known targets that it has.",
    ),
  );
}

/** Regulators that share targets with regulator r: [{ other, shared }], most first. */
function relatedTo(r) {
  const shared = new Map();
  for (const gene of REGULATORS[r].targets)
    for (const [other] of REGULATORS_OF[gene])
      if (other !== r) shared.set(other, (shared.get(other) ?? 0) + 1);
  return [...shared]
    .map(([other, n]) => ({ other, shared: n }))
    .sort((a, b) => b.shared - a.shared);
}

function relatedPart(r, { open }) {
  const rows = relatedTo(r);
  if (!rows.length) return null;
  const name = ({ other }) => REGULATORS[other].label;
  const table = sortableTable({
    caption: `Regulators that share targets with ${fullName(REGULATORS[r])}`,
    columns: [
      {
        title: "Regulator",
        file: "regulator",
        value: name,
        cell: (row) => button(name(row), "link", () => open(row.other)),
      },
      ...(ANY_GRADE
        ? [
            {
              title: "Grade",
              file: "grade",
              className: "wide",
              value: ({ other }) => REGULATORS[other].grade,
              cell: ({ other }) => gradeBadge(REGULATORS[other].grade),
            },
          ]
        : []),
      { title: "Common targets", file: "shared", numeric: true, value: ({ shared }) => shared },
      {
        title: "Of its targets",
        file: "n_targets",
        numeric: true,
        value: ({ other }) => REGULATORS[other].targets.length,
      },
    ],
    rows,
    file: `related_${fileName(REGULATORS[r].label)}.tsv`,
    limit: 5,
  });
  return part(`Related regulators (${count(rows.length)})`, table.element);
}
