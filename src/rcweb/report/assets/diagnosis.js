// What the fit says about one regulator, and what the words mean.

const MEANING = {
  variance_share:
    "share of the variance of the table that it accounts for alone; shares overlap where activities correlate",
  identifiability:
    "share of its activity that no mixture of the other activities gives; near 0 it cannot be told apart from them",
  orientation:
    "1: its activity rises with that of the known regulator, \u22121: it falls, 0: the data do not say",
  edges: "targets",
  zeros: "variables that are no targets; the regulator is found by them",
  noise_ratio: "what is left in the zeros over what noise leaves; near 1 if they are zeros",
  gap: "how much worse the next best column does; near 1 another one would do nearly as well",
  score: "sparseness of its column",
  chance: "the sparsest column that the same search finds in noise",
  share: "part of its column that no other column explains",
  certified: "two halves of the variables that share none lead to it, and halves of the samples where noise is shared",
  found: "certified, or the same for any start and above chance; edges of others are not drawn",
  frequency: "share of the other searches that have it too",
  error: "1 \u2212 cosine to be expected between two sets of searches",
  recurrence: "how far disjoint halves of the variables agree on it, 0 to 1",
};

function diagnosisPart(regulator) {
  const facts = regulator.diagnosis.filter(([, value]) => value !== null);
  if (!facts.length) return null;
  const explained = facts.filter(([what]) => what in MEANING);
  const table = () => ({ columns: ["what", "value"], rows: regulator.diagnosis });
  return part(
    "Diagnosis",
    h(
      "dl",
      { class: "facts" },
      facts.map(([what, value]) =>
        h("div", {}, h("dt", {}, titled(what)), h("dd", {}, cellText(value))),
      ),
    ),
    explained.length
      ? h(
          "details",
          { class: "meaning" },
          h("summary", {}, "What these mean"),
          h(
            "ul",
            {},
            explained.map(([what]) => h("li", {}, h("b", {}, words(what)), `: ${MEANING[what]}.`)),
          ),
        )
      : null,
    downloadButton(`diagnosis_${fileName(regulator.label)}.tsv`, table),
  );
}
