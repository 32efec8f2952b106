"""Collect the data of the page from a fitted model, its samples and annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rcweb.engine.types import Array
from rcweb.network import Network, grades_of
from rcweb.report.analyses import association_records, contrast_records, list_records
from rcweb.report.annotations import (
    AnnotationTables,
    Sets,
    best_known,
    extra_facts,
    given_names,
    measured_table,
    members_of,
    plain_cell,
    plain_table,
    rows_of,
    split_annotations,
    top_terms,
)
from rcweb.report.candidates import all_overlaps, candidates_of
from rcweb.report.data import CellValue, Regulator, ReportData
from rcweb.report.genes import checked_link, gene_columns, gene_fit
from rcweb.report.layout import network_layout
from rcweb.report.words import summarise, with_labels, with_reasons
from rcweb.tables import InputCheck

MAX_SAMPLES = 2000  # drawn as points; more would be neither seen nor small
MAX_TERMS = 25  # per regulator


def report_data(
    model: Any,
    X_or_activities: Any,
    *,
    sample_names: Sequence[str] | None = None,
    sample_groups: Sequence[Any] | None = None,
    annotations: AnnotationTables | None = None,
    gene_sets: Sets | None = None,
    gene_names: Mapping[str, str] | Sequence[str] | None = None,
    explained_variance: float | None = None,
    gene_table: pd.DataFrame | None = None,
    gene_explained: pd.Series | None = None,
    link: str | None = None,
    contrasts: pd.DataFrame | None = None,
    associations: pd.DataFrame | None = None,
    prior: pd.DataFrame | None = None,
    prior_targets: pd.DataFrame | None = None,
    prior_activities: pd.DataFrame | None = None,
    prior_grouped: bool = True,
    provenance: Mapping[str, Any] | None = None,
    title: str = "Hidden regulators",
) -> ReportData:
    """Gather what `write_report` shows; only `model` and the data are needed.

    model : a fitted `RCweb`, or anything with its `network_` and, where there, `singular_values_`,
        `reason_`, `evidence_`, `diagnosis_`, `warnings_` and `input_`.
    X_or_activities : (samples, variables) the data, or (samples, regulators) their activities.
    sample_names, sample_groups : one per sample; names default to the index of a data frame.
    annotations : table of known regulators, as of `rcweb.knowledge.name_regulators` or
        `rcweb.knowledge.Overlaps.table` (`regulator`, `set`, and where known `description`,
        `overlap`, `set_size`, `p`, `q`; of several rows the one with the smallest p counts), or
        ``{"known": ..., "terms": ..., "measured": ...}`` with further tables, as of
        `rcweb.knowledge.enrich` and `rcweb.knowledge.match_measured`. A column `name` names
        regulators.
    gene_sets : members of the known sets, ``{set: targets}``: shows which were found and missed.
    gene_names : names to show instead of the identifiers, as a mapping or one per variable; by
        default those of the network.
    explained_variance : share that the activities explain, where the data are not given.
    gene_table : annotation of the variables, indexed by identifier, such as product and position.
    gene_explained : share of the variance of every variable, as of `gene_fit`, where the data are
        not given.
    link : address of a variable's own page, ``"https://.../{id}"`` or with ``{name}``.
    contrasts : changes between groups, as of `rcweb.activity.contrast`: regulator, group,
        reference, change, lower, upper, t, p, q.
    associations : with columns of the sample sheet, as of `rcweb.activity.associate`: regulator,
        column, kind, statistic, effect, n, p, q.
    prior : lists of known targets that the fit was given, indexed by name: supported, p, q,
        reliability, strength, kept, unseen, new, regulator, evidence, and where known together.
    prior_targets : their members and what was found: list, target, listed, probability, weight.
    prior_activities : (samples, columns) activities of the supported lists, in columns of their
        names, and the standard deviations of their errors, in columns "<name> std".
    prior_grouped : whether groups of related variables, such as operons, were given with the lists;
        without them members may vary together for other reasons.
    provenance : where the result comes from, ``{what: value}``.
    title : of the page.

    Returns `ReportData`.

    Examples
    --------
    >>> from rcweb import RCweb
    >>> from rcweb.report import report_data, write_report
    >>> from rcweb.simulate import simulate
    >>> X = simulate(60, 40, 3, random_state=0).data
    >>> data = report_data(RCweb(3).fit(X), X, title="A planted network")
    >>> data.summary[0]
    '3 hidden regulators explain 99% of the variance of 40 variables over 60 samples.'
    >>> write_report("report.html", data).name
    'report.html'
    """
    network: Network = model.network_
    activities, explained = _activities(model, X_or_activities, network)
    explained = explained_variance if explained is None else explained
    samples = _sample_names(sample_names, X_or_activities, len(activities))
    groups = _sample_groups(sample_groups, len(activities))
    # Counts are of all samples; only drawings use the evenly spaced ones.
    drawn = _drawn_samples(len(activities))
    labels = (
        network.target_names if gene_names is None else _gene_labels(gene_names, network.targets)
    )
    tables = split_annotations(annotations)
    diagnosis = _diagnosis(model, network)
    regulators = _regulators(network, activities, drawn, diagnosis, tables, gene_sets, labels)
    if gene_explained is None and np.shape(X_or_activities)[1] != activities.shape[1]:
        gene_explained = gene_fit(X_or_activities, activities, network.weights, network.targets)
    reason = str(getattr(model, "reason_", ""))
    checked = getattr(model, "input_", InputCheck())
    return ReportData(
        title=title,
        summary=summarise(
            regulators,
            n_genes=len(network.targets),
            n_samples=len(activities),
            explained_variance=explained,
        ),
        warnings=tuple(map(str, (*checked.warnings, *getattr(model, "warnings_", ())))),
        genes=network.targets,
        gene_labels=labels,
        samples=tuple(samples[i] for i in drawn),
        groups=tuple(groups[i] for i in drawn) if groups else (),
        n_samples=len(activities),
        regulators=regulators,
        singular_values=tuple(map(float, getattr(model, "singular_values_", ()))),
        reason=reason,
        evidence=plain_table(getattr(model, "evidence_", None)),
        measured=measured_table(tables["measured"]),
        positions=_positions(network),
        explained_variance=explained,
        provenance=tuple((str(k), str(v)) for k, v in (provenance or {}).items()),
        input=checked.rows,
        input_notes=checked.notes,
        gene_columns=gene_columns(gene_table, network.targets),
        link="" if link is None else checked_link(link),
        gene_explained=_in_order(gene_explained, network.targets),
        contrasts=contrast_records(contrasts, network),
        associations=association_records(associations, network),
        known_lists=list_records(
            None if prior is None else prior.assign(grouped=prior_grouped),
            prior_targets,
            _of_samples(prior_activities, len(activities), drawn),
            network,
        ),
    )


def _activities(model: Any, table: Any, network: Network) -> tuple[Array, float | None]:
    """Activities (M, P), and the share of variance they explain if the data are given."""
    P, N = network.shape
    shape = np.shape(table)
    if len(shape) != 2 or shape[1] not in (P, N):
        raise ValueError(
            f"expected a table with {N} variables or {P} regulators as columns, not shape {shape}."
        )
    if shape[1] == P:
        return np.asarray(table, dtype=np.float64), None
    activities = np.asarray(model.transform(table), dtype=np.float64)
    return activities, float(model.score(table)) if hasattr(model, "score") else None


def _sample_names(names: Sequence[str] | None, table: Any, M: int) -> tuple[str, ...]:
    if names is None and isinstance(table, pd.DataFrame):
        names = list(table.index)
    if names is None:
        names = [f"sample {m + 1}" for m in range(M)]
    return _one_per_sample("sample_names", names, M)


def _sample_groups(groups: Sequence[Any] | None, M: int) -> tuple[str, ...]:
    if groups is None:
        return ()
    # `g != g` holds for NaN, which pandas uses for an empty cell.
    return _one_per_sample("sample_groups", ["" if g is None or g != g else g for g in groups], M)


def _of_samples(table: pd.DataFrame | None, M: int, drawn: NDArray[np.intp]) -> pd.DataFrame | None:
    """The rows of the drawn samples."""
    if table is None:
        return None
    if len(table) != M:
        raise ValueError(f"prior_activities must have one row per sample, {M}; not {len(table)}.")
    return table.iloc[drawn]


def _one_per_sample(what: str, values: Sequence[Any], M: int) -> tuple[str, ...]:
    if len(values) != M:
        raise ValueError(f"{what} must have one entry per sample, {M}; not {len(values)}.")
    return tuple(map(str, values))


def _drawn_samples(M: int) -> NDArray[np.intp]:
    """All samples, or evenly spaced ones when there are too many to draw."""
    if M <= MAX_SAMPLES:
        return np.arange(M)
    return np.linspace(0, M - 1, MAX_SAMPLES).round().astype(np.intp)


def _gene_labels(
    names: Mapping[str, str] | Sequence[str], genes: tuple[str, ...]
) -> tuple[str, ...]:
    if isinstance(names, Mapping):
        return tuple(str(names.get(gene, gene)) for gene in genes)
    if len(names) != len(genes):
        raise ValueError(
            f"gene_names must have one entry per variable, {len(genes)}; not {len(names)}."
        )
    return tuple(map(str, names))


def _in_order(shares: pd.Series | None, genes: tuple[str, ...]) -> tuple[float, ...]:
    """One number per variable, nan where there is none; () without any."""
    return () if shares is None else tuple(shares.reindex(list(genes)).astype(float).tolist())


def _diagnosis(model: Any, network: Network) -> pd.DataFrame:
    table = getattr(model, "diagnosis_", None)
    P = len(network.regulators)
    if table is None or table.empty:
        return pd.DataFrame(index=range(P))
    if len(table) != P:
        raise ValueError(f"diagnosis_ has {len(table)} rows for {P} regulators.")
    return table.drop(columns=["regulator"], errors="ignore")


def _regulators(
    network: Network,
    activities: Array,
    drawn: NDArray[np.intp],
    diagnosis: pd.DataFrame,
    tables: Mapping[str, pd.DataFrame | None],
    gene_sets: Sets | None,
    labels: tuple[str, ...],
) -> tuple[Regulator, ...]:
    known, terms = tables["known"], tables["terms"]
    members = members_of(gene_sets)
    label_of = dict(zip(network.targets, labels))
    gene_number = {gene: n for n, gene in enumerate(network.targets)}
    # A network made by hand has no grades; the diagnosis may know them.
    grades = network.grades if any(network.grades) else grades_of(diagnosis)
    overlaps = all_overlaps(network, gene_sets)
    found = []
    for p, name in enumerate(network.regulators):
        edges = np.flatnonzero(network.weights[p])
        # By score, as in network.tsv, so that page and file agree.
        edges = edges[np.argsort(-np.abs(network.score[p, edges]), kind="stable")]
        targets = tuple(map(int, edges))
        rows = rows_of(known, name)
        best = best_known(rows, members, targets, gene_number)
        found.append(
            Regulator(
                id=name,
                label=name,
                targets=targets,
                weights=tuple(network.weights[p, edges].tolist()),
                probabilities=tuple(network.probability[p, edges].tolist()),
                scores=tuple(network.score[p, edges].tolist()),
                activities=tuple(activities[drawn, p].tolist()),
                diagnosis=tuple((extra_facts(rows) | _row(diagnosis, p)).items()),
                known=best,
                terms=top_terms(rows_of(terms, name), MAX_TERMS, label_of),
                grade=grades[p] if grades else "",
                candidates=tuple(candidates_of(rows, rows_of(overlaps, name))),
            )
        )
    named = dict(zip(network.regulators, network.regulator_names))
    # Names in the table of annotations win over those of the model.
    own = None if network.regulator_names == network.regulators else named
    given = given_names(known)
    labelled = with_labels(found, own if given is None else given)
    # Without known regulators there is nothing to give a reason for.
    return with_reasons(labelled) if known is not None or overlaps is not None else labelled


def _row(table: pd.DataFrame, p: int) -> dict[str, CellValue]:
    # Column by column: a row of a mixed table would turn all its numbers into one type.
    return {str(key): plain_cell(table[key].iloc[p]) for key in table.columns}


def _positions(network: Network) -> tuple[tuple[float, float], ...]:
    # An edge counts by its score; an edge of score 0 is an edge all the same.
    strength = np.where(network.weights != 0, np.maximum(np.abs(network.score), 1e-12), 0.0)
    regulators, variables = network_layout(strength)
    return tuple((float(x), float(y)) for x, y in np.vstack([regulators, variables]))
