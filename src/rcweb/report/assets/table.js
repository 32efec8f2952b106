// A table one can sort with a button in each heading, and save.

/**
 * columns: [{ title, value(row), cell(row)?, numeric?, className?, fileOnly? }]; `value` sorts and
 * is saved, `cell` is what is shown. Returns { element, setRows }.
 */
function sortableTable({
  caption,
  columns: all,
  rows,
  file,
  limit = 50,
  rowAttributes = () => ({}),
}) {
  const columns = all.filter(({ fileOnly }) => !fileOnly);
  let sorting = { column: -1, direction: 1 };
  let shown = limit;
  let current = rows;
  const body = h("tbody");
  const headings = columns.map((column, i) => heading(column, () => sortBy(i)));
  const more = button("", "quiet", showAll);
  const table = h(
    "table",
    {},
    h("caption", { class: "visually-hidden" }, caption),
    h("thead", {}, h("tr", {}, headings)),
    body,
  );
  const save = file
    ? downloadButton(file, () => ({
        columns: all.map((column) => column.file ?? column.title),
        rows: ordered().map((row) => all.map((column) => column.value(row))),
      }))
    : null;
  const element = h(
    "div",
    { class: "table" },
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table),
    h("div", { class: "table-foot" }, more, save),
  );

  function ordered() {
    if (sorting.column < 0) return current;
    const { value } = columns[sorting.column];
    return [...current].sort((a, b) => compare(value(a), value(b), sorting.direction));
  }

  function sortBy(i) {
    const same = sorting.column === i;
    const first = columns[i].numeric && !columns[i].ascending ? -1 : 1;
    sorting = { column: i, direction: same ? -sorting.direction : first };
    headings.forEach((cell, j) => {
      if (j === i)
        cell.setAttribute("aria-sort", sorting.direction > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    draw();
  }

  function showAll() {
    shown = Infinity;
    draw();
  }

  function draw() {
    body.replaceChildren(
      ...ordered()
        .slice(0, shown)
        .map((row) => line(row, columns, rowAttributes)),
    );
    if (!current.length) {
      body.append(h("tr", {}, h("td", { class: "none", colspan: columns.length }, "None.")));
    }
    more.hidden = current.length <= shown;
    more.textContent = `Show all ${count(current.length)}`;
  }

  function setRows(next) {
    current = next;
    draw();
  }

  draw();
  return { element, setRows };
}

function heading(column, onclick) {
  const classes = [column.numeric ? "numeric" : "", column.className ?? ""].join(" ").trim();
  return h("th", { scope: "col", class: classes || null }, button(column.title, "sort", onclick));
}

function line(row, columns, rowAttributes) {
  return h(
    "tr",
    rowAttributes(row),
    columns.map((column, i) => {
      const classes = [column.numeric ? "numeric" : "", column.className ?? ""].join(" ").trim();
      const content = column.cell ? column.cell(row) : cellText(column.value(row));
      const attributes = { class: classes || null, scope: i === 0 ? "row" : null };
      return h(i === 0 ? "th" : "td", attributes, content);
    }),
  );
}

/** Numbers by size, text by alphabet with numbers inside it counted; what is missing comes last. */
function compare(a, b, direction) {
  const missing = (x) => x === null || x === undefined || x === "";
  if (missing(a) || missing(b)) return missing(a) - missing(b);
  if (typeof a === "number" && typeof b === "number") return direction * (a - b);
  return direction * String(a).localeCompare(String(b), "en", { numeric: true });
}

/** What a phone shows of a plain table that has more. */
const NARROW_COLUMNS = new Set(["set", "description", "overlap", "q"]);

/** How columns of a plain table are shown where they are more than text and numbers. */
const PLAIN_CELLS = {
  p: chanceShort,
  q: chanceShort,
  leading: (text) => h("span", { class: "clamp", title: text }, text),
};

/** A plain table of the data ({columns, rows}) as a sortable one. */
function plainTable(caption, table, file) {
  const columns = table.columns.map((name, i) => ({
    title: name.length === 1 ? name : titled(name),
    file: name,
    value: (row) => row[i],
    className:
      name === "description"
        ? "text"
        : table.columns.length < 5 || NARROW_COLUMNS.has(name)
          ? null
          : "wide",
    numeric: table.rows.some((row) => typeof row[i] === "number"),
    ascending: name === "p" || name === "q",
    cell: PLAIN_CELLS[name] && ((row) => PLAIN_CELLS[name](row[i])),
  }));
  return sortableTable({ caption, columns, rows: table.rows, file, limit: 15 }).element;
}
