"""The data of the page as plain frozen records, and their JSON.

They hold numbers, names and tables only and do not depend on the estimator, so that a page can be
written for any network and read by any program.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

SIGNIFICANT = 0.05  # largest q of a match that counts

CellValue = str | float | int | bool | None


@dataclass(frozen=True)
class ReportTable:
    """A small table of plain cells.

    columns : titles
    rows : one tuple of cells each
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[CellValue, ...], ...] = ()


@dataclass(frozen=True)
class Known:
    """The known regulator whose targets a found regulator shares best.

    name, description : of the known regulator
    p, q : tail probability of the overlap, raw and corrected; None when not given
    found, missed, new : numbers of variables: known and found; known and measured but not found;
        found and not known. Empty when the members of the set were not given
    unmeasured : how many known targets are not in the table at all
    overlap, set_size : counts, as the table of annotations states them or from the three lists
    """

    name: str
    description: str = ""
    p: float | None = None
    q: float | None = None
    overlap: int | None = None
    set_size: int | None = None
    found: tuple[int, ...] = ()
    missed: tuple[int, ...] = ()
    new: tuple[int, ...] = ()
    unmeasured: int = 0

    @property
    def fits(self) -> bool:
        """Whether it is worth giving its name, by q of at most 0.05 or stated without q."""
        return self.q is None or self.q <= SIGNIFICANT


@dataclass(frozen=True)
class NameCandidate:
    """A known regulator whose targets overlap with those found; counts as of `Known`.

    bonferroni : p times the number of tests, which decides on names; None when not given
    """

    name: str
    description: str = ""
    overlap: int | None = None
    set_size: int | None = None
    p: float | None = None
    q: float | None = None
    bonferroni: float | None = None


@dataclass(frozen=True)
class Regulator:
    """One found regulator.

    id : its name in the model (``rcweb3``)
    label : the name to show (``Fur``) or the id again
    targets : numbers of variables, largest |score| first
    weights, probabilities, scores : of the same edges, in the same order
    activities : one value per drawn sample
    diagnosis : (what, value) pairs of the model's diagnosis
    known : best known regulator, if any; terms : enriched sets, best first
    grade : "certified", "found" or "unconfirmed"; "" when not known
    candidates : known regulators it may be, best first; unnamed : why it has no name, a sentence
    """

    id: str
    label: str
    targets: tuple[int, ...]
    weights: tuple[float, ...]
    probabilities: tuple[float, ...]
    scores: tuple[float, ...]
    activities: tuple[float, ...]
    diagnosis: tuple[tuple[str, CellValue], ...] = ()
    known: Known | None = None
    terms: ReportTable = ReportTable()
    grade: str = ""
    candidates: tuple[NameCandidate, ...] = ()
    unnamed: str = ""


@dataclass(frozen=True)
class GeneColumn:
    """What is known about every variable, such as its product; equal texts are stored once.

    levels : the different texts; codes : number of its text for every variable, -1 for none
    """

    title: str
    levels: tuple[str, ...]
    codes: tuple[int, ...]


@dataclass(frozen=True)
class ReportContrasts:
    """Changes of activity between groups of samples; the last eight are columns of one table.

    comparisons : (group, reference) pairs; left_out : how many rows were too many for a page
    regulator, comparison : numbers, of the regulator and among `comparisons`
    """

    comparisons: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    regulator: tuple[int, ...] = ()
    comparison: tuple[int, ...] = ()
    change: tuple[float, ...] = ()
    lower: tuple[float, ...] = ()
    upper: tuple[float, ...] = ()
    t: tuple[float, ...] = ()
    p: tuple[float, ...] = ()
    q: tuple[float, ...] = ()


@dataclass(frozen=True)
class ReportAssociations:
    """How activities go with columns of the sample sheet; the last seven are columns of one table.

    columns : (title, kind) pairs; left_out : how many rows were too many for a page
    regulator, column : numbers, of the regulator and among `columns`
    """

    columns: tuple[tuple[str, str], ...] = ()
    left_out: int = 0
    regulator: tuple[int, ...] = ()
    column: tuple[int, ...] = ()
    statistic: tuple[CellValue, ...] = ()
    effect: tuple[float, ...] = ()
    n: tuple[float, ...] = ()
    p: tuple[float, ...] = ()
    q: tuple[float, ...] = ()


@dataclass(frozen=True)
class KnownList:
    """A list of known targets that the fit was given, and what the data say of it.

    facts : (what, value) pairs; regulator : number of its regulator, None if it has none
    targets : numbers of variables; listed, probabilities, weights : of the same variables
    activities : of the drawn samples, empty where unknown or without support; std : standard
        deviations of their errors, a single one if all are equal
    """

    name: str
    supported: bool
    facts: tuple[tuple[str, CellValue], ...]
    regulator: int | None
    targets: tuple[int, ...]
    listed: tuple[bool, ...]
    probabilities: tuple[float, ...]
    weights: tuple[float, ...]
    activities: tuple[float, ...] = ()
    std: tuple[float, ...] = ()


@dataclass(frozen=True)
class ReportData:
    """Everything on the page, of `report_data`.

    title : of the page
    summary : sentences, the first is the headline; warnings : what the reader must know first
    genes, gene_labels : identifiers and the names to show, one per variable
    samples, groups : names and group of each drawn sample; `groups` empty when unknown
    n_samples : how many samples there were, at least ``len(samples)``
    regulators : one `Regulator` each
    singular_values, reason, evidence : how the number of regulators was chosen
    measured : factors measured in some samples, and the regulators they are
    explained_variance : share of the variance that the network explains, None if unknown
    positions : x, y of the regulators, then of the variables, for the drawing of the network;
        (nan, nan) for a variable without edges
    provenance : (what, value) pairs
    input, input_notes : the input check: (what, text) pairs, and sentences worth knowing
    gene_columns : annotation of the variables; link : address template of a variable's page
    gene_explained : share of the variance of each variable that the network explains; empty where
        the data were not given
    contrasts, associations, known_lists : analyses; empty where there are none
    """

    title: str
    summary: tuple[str, ...]
    warnings: tuple[str, ...]
    genes: tuple[str, ...]
    gene_labels: tuple[str, ...]
    samples: tuple[str, ...]
    groups: tuple[str, ...]
    n_samples: int
    regulators: tuple[Regulator, ...]
    singular_values: tuple[float, ...]
    reason: str
    evidence: ReportTable
    positions: tuple[tuple[float, float], ...]
    measured: ReportTable = ReportTable()
    explained_variance: float | None = None
    provenance: tuple[tuple[str, str], ...] = ()
    input: tuple[tuple[str, str], ...] = ()
    input_notes: tuple[str, ...] = ()
    gene_columns: tuple[GeneColumn, ...] = ()
    link: str = ""
    gene_explained: tuple[float, ...] = ()
    contrasts: ReportContrasts = ReportContrasts()
    associations: ReportAssociations = ReportAssociations()
    known_lists: tuple[KnownList, ...] = ()

    @property
    def n_edges(self) -> int:
        """Number of edges of the whole network."""
        return sum(len(regulator.targets) for regulator in self.regulators)

    def to_json(self) -> str:
        """Compact JSON; floats with 4 significant digits, what is not finite as null."""
        return json.dumps(_plain(self), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        # No drawing shows more digits, and the page stays small.
        rounded = float(f"{value:.4g}")
        # 1 instead of 1.0; beyond 1e15 integers would be longer than the float.
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"a report holds plain values only, not {type(value).__name__}: {value!r}.")
