// How far a regulator was confirmed, in words.

const GRADES = {
  certified: "found again from halves of the variables that share none, and of the samples where noise is shared",
  found:
    "the same for any start of the search and above chance, but not found again from halves of the variables",
  unconfirmed:
    "neither found again from halves nor the same for any start: its edges are not drawn",
};

const ANY_GRADE = REGULATORS.some(({ grade }) => grade);

/** The grade as a word; its meaning shows on hover. */
function gradeBadge(grade) {
  if (!grade) return "–";
  return h("span", { class: `grade grade-${grade}`, title: titled(GRADES[grade]) }, grade);
}

/** The grade with what it means, for the head of a regulator. */
function gradeSentence({ grade }) {
  if (!grade) return null;
  return h("p", { class: "grade-line" }, gradeBadge(grade), ` ${GRADES[grade]}.`);
}

/** A choice of grades with the number of each; `onChange(grade)` gets "" for all. */
function gradeFilter(onChange) {
  if (!ANY_GRADE) return null;
  const number = (grade) => REGULATORS.filter((regulator) => regulator.grade === grade).length;
  const options = Object.keys(GRADES)
    .filter((grade) => number(grade))
    .map((grade) => h("option", { value: grade }, `${grade} (${count(number(grade))})`));
  return h(
    "label",
    { class: "field" },
    "Grade",
    h(
      "select",
      { id: "grade-filter", onchange: (event) => onChange(event.target.value) },
      h("option", { value: "" }, `all (${count(REGULATORS.length)})`),
      options,
    ),
  );
}
