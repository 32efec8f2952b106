"""The result of a fit: who regulates what, how strongly, and how sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rcweb.network import formats
from rcweb.network.grades import GRADES
from rcweb.network.html import network_html

#: Columns of `Network.edges`.
EDGE_COLUMNS = (
    "regulator",
    "target",
    "weight",
    "probability",
    "score",
    "regulator_name",
    "target_name",
    "grade",
)


@dataclass(frozen=True, eq=False)
class Network:
    """A sparse, signed, labelled network of P regulators over N targets; C in equation 2.

    weights : (P, N) ; zero = no edge
    probability : (P, N) in [0, 1], of every edge
    score : (P, N) signed, comparable across regulators: the n largest are the n edges to show first
    regulators, targets : unique ids, P and N of them
    regulator_names, target_names : names to show, one per id; the id where there is none
    grades : how far each regulator was confirmed, one of `GRADES`; "" where nothing is known

    Raises ValueError if shapes do not agree, ids repeat or probabilities lie outside [0, 1].

    Examples
    --------
    >>> from rcweb.network import Network
    >>> weights = [[2.0, -1.0, 0.0], [0.0, 0.5, 0.0]]
    >>> probability = [[1.0, 0.9, 0.1], [0.0, 0.8, 0.0]]
    >>> network = Network(weights, probability, weights, ["r0", "r1"], ["a", "b", "c"])
    >>> network
    Network(2 regulators, 3 targets, 3 edges)
    >>> network.edges()[["regulator", "target", "weight", "probability"]]
      regulator target  weight  probability
    0        r0      a     2.0          1.0
    1        r0      b    -1.0          0.9
    2        r1      b     0.5          0.8
    """

    weights: NDArray[np.float64]
    probability: NDArray[np.float64]
    score: NDArray[np.float64]
    regulators: tuple[str, ...]
    targets: tuple[str, ...]
    regulator_names: tuple[str, ...] = ()
    target_names: tuple[str, ...] = ()
    grades: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check once, here, so that nothing that uses a network has to."""
        regulators = _names("regulators", self.regulators)
        targets = _names("targets", self.targets)
        shape = (len(regulators), len(targets))
        for field in ("weights", "probability", "score"):
            # The class is frozen; this is the one place where its fields are set.
            object.__setattr__(self, field, _matrix(field, getattr(self, field), shape))
        outside = (self.probability < 0) | (self.probability > 1)
        if outside.any():
            raise ValueError(
                f"probability must lie in [0, 1]; found {self.probability[outside][0]}."
            )
        object.__setattr__(self, "regulators", regulators)
        object.__setattr__(self, "targets", targets)
        for field, ids in (("regulator_names", regulators), ("target_names", targets)):
            object.__setattr__(self, field, _shown(field, getattr(self, field), ids))
        object.__setattr__(self, "grades", _grades(self.grades, len(regulators)))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of regulators and targets, (P, N)."""
        return len(self.regulators), len(self.targets)

    @property
    def n_edges(self) -> int:
        """Number of edges, the entries of `weights` that are not zero."""
        return int(np.count_nonzero(self.weights))

    @property
    def regulator_labels(self) -> tuple[str, ...]:
        """Name and id of every regulator, ``fur (rcweb9)``, or the id alone. Unique."""
        return tuple(
            identity if name == identity else f"{name} ({identity})"
            for identity, name in zip(self.regulators, self.regulator_names)
        )

    def position(self, regulator: str) -> int:
        """The number of the row of a regulator.

        regulator : its id or its name

        Raises ValueError if no regulator or several have this name; it lists near names.

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.network import Network
        >>> one = np.eye(2)
        >>> Network(one, one, one, ["r0", "r1"], ["a", "b"], ["fur", "lexA"]).position("lexA")
        1
        """
        return _position("regulator", regulator, self.regulators, self.regulator_names)

    def target_position(self, target: str) -> int:
        """The number of the column of a target; ValueError as in `position`.

        target : its id or its name
        """
        return _position("variable", target, self.targets, self.target_names)

    def edges(self, min_probability: float = 0.0) -> pd.DataFrame:
        """One row per edge, the surest first: regulator, target, weight, probability, score, the
        names of both, and the regulator's grade (`EDGE_COLUMNS`).

        min_probability : edges below it are left out

        Sorted by |score|, descending; equal scores keep the order of regulators and targets, so
        the table is the same on every machine.

        Examples
        --------
        >>> from rcweb import RCweb
        >>> from rcweb.simulate import simulate
        >>> model = RCweb(4).fit(simulate(100, 80, 4, random_state=0).data)
        >>> model.network_.edges(min_probability=0.9).shape
        (32, 8)
        """
        keep = (self.weights != 0) & (self.probability >= min_probability)
        row, column = np.nonzero(keep)
        # A stable sort: ties keep the order of the matrix on every machine.
        order = np.argsort(-np.abs(self.score[row, column]), kind="stable")
        row, column = row[order], column[order]

        def called(names: tuple[str, ...], which: np.ndarray) -> pd.Series:
            # As objects: pandas 3 keeps text as UTF-8, which has no lone surrogates.
            return pd.Series(np.array(names, dtype=object)[which], dtype=object)

        return pd.DataFrame(
            {
                "regulator": called(self.regulators, row),
                "target": called(self.targets, column),
                "weight": self.weights[row, column],
                "probability": self.probability[row, column],
                "score": self.score[row, column],
                "regulator_name": called(self.regulator_names, row),
                "target_name": called(self.target_names, column),
                "grade": called(self.grades, row),
            },
            columns=list(EDGE_COLUMNS),
        )

    def target_sets(self, min_probability: float = 0.0) -> dict[str, list[str]]:
        """Targets of each regulator, the surest first; an empty list where there are none.

        min_probability : edges below it are left out

        Examples
        --------
        >>> from rcweb.network import Network
        >>> weights = [[1.0, -2.0, 0.0], [0.0, 0.0, 0.0]]
        >>> probability = [[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
        >>> Network(weights, probability, weights, ["r0", "r1"], ["a", "b", "c"]).target_sets()
        {'r0': ['b', 'a'], 'r1': []}
        """
        sets: dict[str, list[str]] = {name: [] for name in self.regulators}
        table = self.edges(min_probability)
        for regulator, target in zip(table["regulator"], table["target"]):
            sets[regulator].append(target)
        return sets

    def rename(self, names: dict[str, str]) -> Network:
        """The same network with other ids for some regulators.

        names : ``{old: new}``; ValueError for an id that is not there. To keep ids and show names
            beside them, see `rcweb.RCweb.set_names`

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.network import Network
        >>> one = np.eye(2)
        >>> Network(one, one, one, ["r0", "r1"], ["a", "b"]).rename({"r1": "fur"}).regulators
        ('r0', 'fur')
        """
        unknown = sorted(set(names) - set(self.regulators))
        if unknown:
            raise ValueError(f"No regulator is called {unknown[0]!r}.")
        new = tuple(names.get(name, name) for name in self.regulators)
        shown = tuple(
            # A name that was only the old id follows the id.
            identity if name == old else name
            for old, identity, name in zip(self.regulators, new, self.regulator_names)
        )
        return replace(self, regulators=new, regulator_names=shown)

    # --- export formats; each returns text, `save` writes it ---

    def to_graphml(self, min_probability: float = 0.0) -> str:
        """GraphML, as networkx, igraph and Cytoscape read it; targets without edges left out.

        min_probability : edges below it are left out
        """
        return formats.graphml(self._named_regulators(), self.edges(min_probability))

    def to_cytoscape(self, min_probability: float = 0.0) -> str:
        """Cytoscape JSON (.cyjs), also of Cytoscape.js; targets without edges left out.

        min_probability : edges below it are left out
        """
        return formats.cytoscape_json(self._named_regulators(), self.edges(min_probability))

    def to_gmt(self, min_probability: float = 0.0) -> str:
        """Gene matrix transposed (.gmt): one line per regulator that has targets.

        min_probability : edges below it are left out

        The set has the regulator's name, its description begins with the id; members are ids.
        """
        shared = Counter(self.regulator_names)
        names = [
            # A GMT set is known by its name alone, so equal names get their ids.
            name if shared[name] == 1 else label
            for name, label in zip(self.regulator_names, self.regulator_labels)
        ]
        sets = self.target_sets(min_probability)
        return formats.gmt(zip(names, sets, sets.values()))

    def to_tsv(self, min_probability: float = 0.0) -> str:
        """The edges table as text: regulator, target, weight, probability, names of both, grade.

        min_probability : edges below it are left out
        """
        return formats.tsv(self.edges(min_probability).drop(columns="score"))

    def save(self, path: str | Path, min_probability: float = 0.0) -> Path:
        """Write the network to a file, atomically; returns the path.

        path : its extension decides: .graphml, .cyjs (Cytoscape), .gmt (gene sets) or .tsv;
            ValueError for others
        min_probability : edges below it are left out

        Examples
        --------
        >>> import numpy as np
        >>> from rcweb.network import Network
        >>> one = np.eye(2)
        >>> Network(one, one, one, ["r0", "r1"], ["a", "b"]).save("network.graphml").name
        'network.graphml'
        """
        # Imported here: networks that stay in memory need no file access.
        from rcweb.storage.atomic import write_text

        path = Path(path)
        writers: dict[str, Callable[[float], str]] = {
            ".graphml": self.to_graphml,
            ".cyjs": self.to_cytoscape,
            ".gmt": self.to_gmt,
            ".tsv": self.to_tsv,
        }
        if path.suffix not in writers:
            raise ValueError(
                f"unknown file type of {path.name!r}; use one of {', '.join(writers)}."
            )
        write_text(path, writers[path.suffix](min_probability))
        return path

    def __repr__(self) -> str:
        """Shows sizes only: the matrices would fill the screen."""
        P, N = self.shape
        return f"Network({P} regulators, {N} targets, {self.n_edges} edges)"

    def _repr_html_(self) -> str:
        names = dict(zip(self.targets, self.target_names))
        shown = [[names[t] for t in targets] for targets in self.target_sets().values()]
        return network_html(self.weights, self.probability, self.regulator_labels, shown)

    def _named_regulators(self) -> dict[str, str]:
        return dict(zip(self.regulators, self.regulator_names))


def _position(kind: str, key: str, ids: tuple[str, ...], names: tuple[str, ...]) -> int:
    # Ids first: they are unique, names need not be.
    if key in ids:
        return ids.index(key)
    found = [n for n, name in enumerate(names) if name == key]
    if len(found) == 1:
        return found[0]
    if found:
        which = ", ".join(ids[n] for n in found)
        raise ValueError(f"{len(found)} {kind}s are called {key!r}; say which: {which}.")
    called = {name.lower(): name for name in reversed([*names, *ids])}
    # Misspelt names are common; suggest what may be meant, also in other letters.
    near = [called[k] for k in get_close_matches(key.lower(), called, n=3)]
    near = near or [*dict.fromkeys(names)][:5]
    raise ValueError(f"No {kind} is called {key!r}; some are {', '.join(near)}.")


def _names(field: str, names: Sequence[str]) -> tuple[str, ...]:
    if isinstance(names, str):
        raise TypeError(f"{field} must be a sequence of names, not the one string {names!r}.")
    result = tuple(str(name) for name in names)
    seen: set[str] = set()
    for name in result:
        if name in seen:
            raise ValueError(f"{field} must be unique; {name!r} occurs twice.")
        seen.add(name)
    return result


def _shown(field: str, names: Sequence[str], ids: tuple[str, ...]) -> tuple[str, ...]:
    if not len(names):
        return ids
    if isinstance(names, str) or len(names) != len(ids):
        raise ValueError(f"{field} must hold {len(ids)} names, one per id; not {names!r:.80}.")
    return tuple(str(name) or identity for name, identity in zip(names, ids))


def _grades(grades: Sequence[str], P: int) -> tuple[str, ...]:
    if not len(grades):
        return ("",) * P
    if len(grades) != P:
        raise ValueError(f"grades must hold {P} words, one per regulator; not {len(grades)}.")
    unknown = sorted(set(grades) - {*GRADES, ""})
    if unknown:
        raise ValueError(f"a grade is one of {', '.join(GRADES)}; not {unknown[0]!r}.")
    return tuple(grades)


def _matrix(field: str, values: ArrayLike, shape: tuple[int, int]) -> NDArray[np.float64]:
    matrix = np.asarray(values, dtype=np.float64)
    if matrix.shape != shape:
        raise ValueError(
            f"{field} must have a row per regulator and a column per target, {shape}; "
            f"not {matrix.shape}."
        )
    if not np.isfinite(matrix).all():
        raise ValueError(f"{field} must be finite.")
    return matrix
