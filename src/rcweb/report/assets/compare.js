"use strict";
(() => {
  const body = document.querySelector("#matches tbody");
  const heads = [...document.querySelectorAll("#matches th")];
  const key = (row, column) => row.cells[column].dataset.value;

  // Numbers by value, text by letters; empty cells last in both directions.
  function order(a, b, column, direction) {
    const [x, y] = [key(a, column), key(b, column)];
    if (x === "" || y === "") return (x === "") - (y === "");
    const [p, q] = [Number(x), Number(y)];
    const sign = Number.isNaN(p) || Number.isNaN(q) ? x.localeCompare(y, "en", { numeric: true }) : p - q;
    return sign * direction;
  }

  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...body.rows].sort((a, b) => order(a, b, column, up ? 1 : -1));
      body.append(...rows);
    });
  });
})();
