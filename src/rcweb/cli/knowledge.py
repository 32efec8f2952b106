"""Knowledge from files beside the table, and the names that regulators get from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.estimator import RCweb
    from rcweb.knowledge import GeneSets
    from rcweb.tables import Match


@dataclass(frozen=True)
class Sources:
    """Files named on the command line."""

    sets: tuple[Path, ...] = ()
    source_column: str | None = None
    target_column: str | None = None
    weight_column: str | None = None
    prior: tuple[Path, ...] = ()
    groups: Path | None = None
    terms: tuple[Path, ...] = ()
    measured: Path | None = None
    samples: Path | None = None
    group: str | None = None
    reference: str | None = None
    names: Path | None = None
    names_columns: tuple[str, str] | None = None
    link: str | None = None

    def inputs(self) -> dict[str, dict[str, str]]:
        """Name and checksum of every file, for the record of the run."""
        from rcweb.storage.checksum import checksum

        return {k: {"file": p.name, "sha256": checksum(p)} for k, p in self._files().items()}

    def paths(self) -> list[Path]:
        """Every file."""
        return list(self._files().values())

    def _files(self) -> dict[str, Path]:
        """Every file by its role."""
        files: dict[str, Path] = {f"sets {i + 1}": p for i, p in enumerate(self.sets)}
        files |= {f"prior {i + 1}": p for i, p in enumerate(self.prior)}
        files |= {f"terms {i + 1}": p for i, p in enumerate(self.terms)}
        single = {
            "groups": self.groups,
            "measured": self.measured,
            "samples": self.samples,
            "names": self.names,
        }
        return files | {role: path for role, path in single.items() if path is not None}


@dataclass(frozen=True)
class Knowledge:
    """The content of the files; None where nothing was given.

    known, terms : target sets of regulators, functional categories
    prior : file name and sets of every source of known targets to judge by the data
    variable_groups : ``{variable: group}``, for `prior`
    measured : (some samples, factors)
    sheet : one row per sample
    groups : one per sample of the table, for colours and contrasts; reference : one of them
    name_columns : columns of the table of names; labels : names to show instead of identifiers
    gene_table : further columns of the table of names, indexed by variable; link : address
        template of a variable's own page
    gene_explained : share of the variance of every variable, which only a fit can count
    title : heading of the report
    set_files : name and sets of every file of sets
    matches : how much of each file is in the table
    """

    known: GeneSets | None = None
    prior: tuple[tuple[str, GeneSets], ...] | None = None
    variable_groups: dict[str, str] | None = None
    terms: GeneSets | None = None
    measured: pd.DataFrame | None = None
    sheet: pd.DataFrame | None = None
    groups: tuple[str, ...] | None = None
    reference: str | None = None
    name_columns: dict[str, list[str]] | None = None
    labels: dict[str, str] | None = None
    gene_table: pd.DataFrame | None = None
    link: str | None = None
    gene_explained: pd.Series | None = None
    title: str | None = None
    set_files: tuple[tuple[str, GeneSets], ...] = ()
    matches: tuple[Match, ...] = ()

    @property
    def names_regulators(self) -> bool:
        """Whether there are sets, terms or measurements to name or describe regulators."""
        return not (self.known is None and self.terms is None and self.measured is None)


@dataclass(frozen=True)
class Annotations:
    """Tables of `rcweb.knowledge` and `rcweb.activity` about the regulators; None where there is
    nothing to say.

    names, terms, measured : from files of sets, terms and measurements
    contrasts, associations : with the groups and the columns of the sample sheet
    """

    names: pd.DataFrame | None = None
    terms: pd.DataFrame | None = None
    measured: pd.DataFrame | None = None
    contrasts: pd.DataFrame | None = None
    associations: pd.DataFrame | None = None


def load_knowledge(sources: Sources) -> Knowledge:
    """Read the files; `join_table` adds what needs the names of the table."""
    from rcweb.tables.sheets import read_columns, read_sheet

    both = _load_sets(
        (*sources.sets, *sources.prior),
        source=sources.source_column,
        target=sources.target_column,
        weight=sources.weight_column,
    )
    known, prior = both[: len(sources.sets)], both[len(sources.sets) :]
    terms = _load_sets(sources.terms)
    return Knowledge(
        known=_merged(known),
        prior=tuple((path.name, sets) for path, sets in prior) or None,
        variable_groups=_load_groups(sources.groups),
        reference=sources.reference,
        terms=_merged(terms),
        sheet=read_sheet(sources.samples) if sources.samples else None,
        name_columns=read_columns(sources.names) if sources.names else None,
        set_files=tuple((path.name, sets) for path, sets in [*both, *terms]),
    )


def _load_groups(path: Path | None) -> dict[str, str] | None:
    """The second column of a table by its first."""
    from rcweb.tables.sheets import read_sheet

    if path is None:
        return None
    sheet = read_sheet(path)
    if not len(sheet.columns):
        raise ValueError(f"{path.name} has one column; it needs two: variable and group.")
    return {str(variable): str(group) for variable, group in sheet.iloc[:, 0].items()}


def join_table(
    knowledge: Knowledge, sources: Sources, samples: Sequence[str], variables: Sequence[str]
) -> Knowledge:
    """Add what needs the names in the table, and how many of them each file shares with it."""
    from rcweb.cli import matching

    # None means not given; `annotate` then keeps what is stored.
    groups = measured = labels = gene_table = None
    matches = [matching.match_sets(file, sets, variables) for file, sets in knowledge.set_files]
    if sources.groups is not None and knowledge.variable_groups is not None:
        grouped = matching.match_groups(sources.groups.name, knowledge.variable_groups, variables)
        matches.append(grouped)
    if sources.names is not None and knowledge.name_columns is not None:
        chosen = matching.columns_to_use(
            sources.names.name, knowledge.name_columns, variables, sources.names_columns
        )
        labels, found = matching.match_labels(
            sources.names.name, knowledge.name_columns, variables, *chosen
        )
        gene_table = matching.other_columns(knowledge.name_columns, variables, *chosen)
        matches.append(found)
    if sources.samples is not None and knowledge.sheet is not None:
        groups, found = matching.match_sheet(
            sources.samples.name, knowledge.sheet, samples, sources.group
        )
        matches.append(found)
        _check_reference(sources.reference, groups)
    # Read only now: the sample names of the table decide its orientation.
    if sources.measured is not None:
        measured = _load_measured(sources.measured, samples)
        matches.append(matching.match_measured(sources.measured.name, measured, samples))
    return replace(
        knowledge,
        groups=groups,
        measured=measured,
        labels=labels,
        gene_table=gene_table,
        link=sources.link,
        matches=tuple(matches),
    )


def _check_reference(reference: str | None, groups: Sequence[str] | None) -> None:
    """Before the fit: a mistyped group should not cost it."""
    if reference is None or reference in (groups or ()):
        return
    if not groups:
        raise ValueError(f"--reference {reference!r} needs groups; name their column with --group.")
    some = ", ".join(map(repr, sorted(set(filter(None, groups)))[:3]))
    raise ValueError(f"--reference {reference!r} is none of the groups, such as {some}.")


def _load_measured(path: Path, samples: Sequence[str]) -> pd.DataFrame:
    """Measured factors, samples x factors, transposed if the sample names are in the columns."""
    from rcweb.tables import read_table

    return read_table(path, samples=samples, keep_empty=True).frame()


def _load_sets(paths: Sequence[Path], **columns: str | None) -> list[tuple[Path, GeneSets]]:
    """The sets of each file; `columns` are titles in those that are tables of edges."""
    from rcweb.knowledge import read_sets
    from rcweb.knowledge.genesets import is_gmt

    # An option without effect is a mistake of the user; say so.
    if any(columns.values()) and all(map(is_gmt, paths)):
        raise ValueError("Columns are named for a table of edges, but no file is one.")
    return [(path, read_sets(path, **columns)) for path in paths]


def _merged(parts: Sequence[tuple[Path, GeneSets]]) -> GeneSets | None:
    """All sets of all files."""
    from rcweb.knowledge import merge_sets

    return merge_sets([(path.stem, sets) for path, sets in parts]) if parts else None


def annotate_model(
    model: RCweb,
    activities: pd.DataFrame,
    knowledge: Knowledge,
    total_variance: float | None = None,
    known: Annotations | None = None,
) -> Annotations:
    """Name regulators by what is known; `total_variance`, of the data, adds shares of it. `known` :
    tables to which these are added."""
    from rcweb.knowledge.enrichment import enrich
    from rcweb.knowledge.names import identifiability, name_regulators, share_of_variance

    names = terms = measured = None
    if knowledge.known is not None:
        names = name_regulators(model, knowledge.known, terms=knowledge.terms)
    if knowledge.terms is not None:
        terms = enrich(model, knowledge.terms)
    if knowledge.measured is not None:
        measured = model.measured_
    if measured is not None:
        # Known targets first; a measurement names only what they leave unnamed.
        names = _named_by_measurement(_unnamed(model) if names is None else names, measured)
    if names is not None and total_variance is not None:
        share = share_of_variance(activities, model.components_, total_variance)
        names = names.assign(variance_share=share, identifiability=identifiability(activities))
    return replace(known or Annotations(), names=names, terms=terms, measured=measured)


def _unnamed(model: RCweb) -> pd.DataFrame:
    """The table of regulators without any names."""
    table = model.diagnosis_
    table.insert(0, "name", "")
    return table


def _named_by_measurement(names: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Name a regulator without a name after the measured factor assigned to it."""
    found = measured[measured["regulator"].notna()]
    # Names must stay unique when a factor is also a known set.
    taken = set(names["name"])
    factors = {
        regulator: f"{factor} (measured)" if factor in taken else factor
        for regulator, factor in zip(found["regulator"], found["factor"])
    }
    pairs = zip(names.index, names["name"])
    return names.assign(name=[name or factors.get(key, "") for key, name in pairs])
