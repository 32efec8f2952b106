"""Several tables as one: the union of their variables, and which sample is from which study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

FEWEST_OF_A_STUDY = 2  # samples: of one sample nothing is left beside its own mean


@dataclass(frozen=True, eq=False)
class Studies:
    """Samples of several studies in one table.

    table : (M, N) DataFrame, or array if the studies had no names; NaN = not measured
    study : (M,) number of the study of each sample
    names : of the studies, S of them
    """

    table: Any
    study: NDArray[np.int64]
    names: tuple[str, ...]


def are_tables(X: Any) -> bool:
    """Whether `X` is a list, tuple or mapping of tables, not one table (such as a list of rows)."""
    tables = X.values() if isinstance(X, Mapping) else X if isinstance(X, list | tuple) else ()
    return bool(tables) and all(getattr(table, "ndim", None) == 2 for table in tables)


def join_studies(X: Any, batch: Any = None) -> Studies:
    """From tables, one per study, or from one table with a label per sample.

    Tables with names are joined by the names of their variables, in the order of first appearance;
    a variable that a study did not measure is NaN there. Arrays must have equal width.
    """
    if not are_tables(X):
        return _from_labels(X, batch)
    if batch is not None:
        raise ValueError("A list of tables says which sample is from which study; leave out batch.")
    tables = list(X.values()) if isinstance(X, Mapping) else list(X)
    names = tuple(map(str, X if isinstance(X, Mapping) else range(len(tables))))
    for name, table in zip(names, tables):
        check_in_memory(table, f"Study {name!r}")
    study = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    joined = Studies(_joined(tables), study.astype(np.int64), names)
    return _checked(joined)


def study_of(batch: Any, n_samples: int) -> list[str | None]:
    """Labels as text, one per sample; None where there is none."""
    if isinstance(batch, str) or not hasattr(batch, "__len__"):
        raise TypeError(f"batch must hold one label per sample, not {batch!r:.60}.")
    if len(batch) != n_samples:
        raise ValueError(f"batch has {len(batch)} labels for {n_samples} samples.")
    return [None if pd.isna(label) or label == "" else str(label) for label in batch]


def _from_labels(table: Any, batch: Any) -> Studies:
    check_in_memory(table, "A table with batch=")
    labels = study_of(batch, len(table))
    if None in labels:
        sample = labels.index(None)
        name = str(table.index[sample]) if isinstance(table, pd.DataFrame) else str(sample)
        raise ValueError(f"Sample {name!r} has no label in batch; give it one or leave it out.")
    names = tuple(dict.fromkeys(map(str, labels)))
    number = {name: s for s, name in enumerate(names)}
    study = np.array([number[str(label)] for label in labels], dtype=np.int64)
    return _checked(Studies(table, study, names))


def check_in_memory(table: Any, what: str) -> None:
    """Raise TypeError unless the table is a DataFrame or a dense array."""
    if sparse.issparse(table) or not (isinstance(table, np.ndarray | pd.DataFrame)):
        raise TypeError(
            f"{what} must be a DataFrame or an array in memory, not {type(table).__name__}."
        )


def _joined(tables: Sequence[Any]) -> Any:
    named = [isinstance(table, pd.DataFrame) for table in tables]
    if not any(named):
        widths = sorted({table.shape[1] for table in tables})
        if len(widths) > 1:
            raise ValueError(
                f"Arrays of {widths[0]} and of {widths[-1]} variables have no names to join them "
                "by: pass DataFrames."
            )
        return np.vstack(tables)
    if not all(named):
        raise TypeError("Either all studies are DataFrames, joined by name, or none is.")
    for table in tables:
        if table.columns.has_duplicates:
            twice = table.columns[table.columns.duplicated()][0]
            raise ValueError(f"The variable {str(twice)!r} occurs twice in one study.")
    variables = list(dict.fromkeys(name for table in tables for name in table.columns))
    return pd.concat([table.reindex(columns=variables) for table in tables])


def _checked(studies: Studies) -> Studies:
    sizes = np.bincount(studies.study, minlength=len(studies.names))
    if sizes.min() < FEWEST_OF_A_STUDY:
        name = studies.names[int(sizes.argmin())]
        raise ValueError(
            f"Study {name!r} has {sizes.min()} sample; {FEWEST_OF_A_STUDY} are needed, since each "
            "study has its own mean. Join it to another or leave it out."
        )
    return studies
