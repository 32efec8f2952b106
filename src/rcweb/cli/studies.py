"""Several tables, or groups of samples, that are fitted as studies with one network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcweb.cli.knowledge import Knowledge
from rcweb.cli.pipeline import data_facts, read_data

if TYPE_CHECKING:
    from rcweb.blocks.large import LargeTable
    from rcweb.tables import ReadOptions, Table


@dataclass(frozen=True)
class InputTables:
    """What was read: one table; `name` of the file or files; of several files the study of each
    sample and the record of each file."""

    table: Table | LargeTable
    name: str
    batch: tuple[str, ...] | None = None
    inputs: Mapping[str, Mapping[str, Any]] | None = None


def read_tables(paths: Sequence[Path], options: ReadOptions, knowledge: Knowledge) -> InputTables:
    """Read one table, or several as studies."""
    if len(paths) == 1:
        return InputTables(read_data(paths[0], options, knowledge), paths[0].name)
    _refuse_twice(paths)
    tables = [_in_memory(path, read_data(path, options, knowledge)) for path in paths]
    table, batch = join_files(tables, _study_names(paths))
    roles = ["data", *(f"data {k}" for k in range(2, len(paths) + 1))]
    inputs = {role: data_facts(t, path.name) for role, t, path in zip(roles, tables, paths)}
    return InputTables(table, ", ".join(path.name for path in paths), batch, inputs)


def join_files(tables: Sequence[Table], names: Sequence[str]) -> tuple[Table, tuple[str, ...]]:
    """One table of all samples. Samples of the same name in two files get that of the file too."""
    import numpy as np

    from rcweb.tables.studies import join_studies
    from rcweb.tables.table import Table

    joined = join_studies({n: t.frame(dense=True) for n, t in zip(names, tables)})
    samples = [sample for table in tables for sample in table.samples]
    labels = tuple(joined.names[s] for s in joined.study)
    if len(set(samples)) < len(samples):
        samples = [f"{label}: {sample}" for label, sample in zip(labels, samples)]
    table = Table(
        np.ascontiguousarray(joined.table.to_numpy()),
        tuple(samples),
        tuple(map(str, joined.table.columns)),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        way=tables[0].way,
        set_aside=tuple(dict.fromkeys(c for table in tables for c in table.set_aside)),
        logged=all(table.logged for table in tables),
    )
    return table, labels


def labels_from_sheet(knowledge: Knowledge, column: str, samples: Sequence[str]) -> tuple[str, ...]:
    """The study of each sample from a column of the sample sheet."""
    from rcweb.tables import TableError
    from rcweb.tables.sheets import groups_of

    if knowledge.sheet is None:
        raise TableError("--batch names a column of --samples; give --samples FILE too.")
    labels = groups_of(knowledge.sheet, samples, column)
    if labels is None:  # only if no column was named
        raise TableError("--batch needs the title of a column.")
    if (labels == "").any():
        sample = labels.index[labels == ""][0]
        raise TableError(f"--batch {column}: the sheet has no value for sample {str(sample)!r}.")
    return tuple(map(str, labels))


def _refuse_twice(paths: Sequence[Path]) -> None:
    """Studies are told apart by their names, and the same samples twice are no second study."""
    from rcweb.tables import TableError

    files = [path.resolve() for path in paths]
    if twice := [path for path, file in zip(paths, files) if files.count(file) > 1]:
        raise TableError(f"{twice[0]} is given twice; several tables are different studies.")


def _in_memory(path: Path, table: Table | LargeTable) -> Table:
    from rcweb.blocks.large import LargeTable
    from rcweb.tables import TableError

    if isinstance(table, LargeTable):
        raise TableError(f"{path.name} is read in blocks; several tables must fit into memory.")
    return table


def _study_names(paths: Sequence[Path]) -> list[str]:
    """Names of the files without their endings; with their folders where those are equal."""
    names = [path.name.split(".")[0] or path.name for path in paths]
    if len(set(names)) < len(names):
        names = [f"{path.resolve().parent.name}/{path.name}" for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]
