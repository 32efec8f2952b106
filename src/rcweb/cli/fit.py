"""``rcweb fit``: a table in, a folder of results out."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rcweb.cli.console import Console, with_console
from rcweb.cli.knowledge import Annotations, Knowledge, Sources
from rcweb.cli.options import FILE, knowledge_options, reading_options
from rcweb.cli.results import FILES, Result, write_result

if TYPE_CHECKING:
    from rcweb.estimator import RCweb
    from rcweb.io import ReadOptions, Table


class Components(click.ParamType):
    """A number of regulators, or "auto"."""

    name = "N|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """Whole and at least 1, or "auto"."""
        if value == "auto":
            return "auto"
        if str(value).isdecimal() and int(value) > 0:
            return int(value)
        self.fail(f"{value!r} is neither a whole number above 0 nor auto.", param, ctx)


@dataclass(frozen=True)
class FitParameters:
    """What is handed to `RCweb`."""

    n_components: int | str = "auto"
    method: str = "refined"
    degree: int | None = None
    fdr: float = 0.05
    quality: str = "standard"
    random_state: int = 0


@click.command(
    short_help="Find the regulators of a table; writes network and report.",
    epilog="\b\nExample:\n  rcweb fit expression.csv -o results --sets regulons.gmt --terms go.gmt",
)
@click.argument("data", type=FILE)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Result folder.")
@click.option(
    "--components",
    metavar="N|auto",
    type=Components(),
    default="auto",
    show_default=True,
    help="Number of regulators.",
)
@click.option(
    "--method", type=click.Choice(["refined", "paper"]), default="refined", show_default=True
)
@click.option("--degree", type=click.IntRange(1), help="Mean number of targets, if known.")
@click.option(
    "--fdr",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Expected share of false edges.",
)
@click.option(
    "--quality",
    type=click.Choice(["fast", "standard", "best"]),
    default="standard",
    show_default=True,
    help="How much time to spend.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--h5ad", is_flag=True, help="Also write data.h5ad, with the result in its slots.")
@knowledge_options
@reading_options
@with_console
def fit(
    data: Path,
    out: Path,
    components: int | str,
    method: str,
    degree: int | None,
    fdr: float,
    quality: str,
    seed: int,
    h5ad: bool,
    sources: Sources,
    reading: Callable[[], ReadOptions],
    console: Console,
) -> None:
    """Find the hidden regulators of DATA and the network from them to what was measured.

    DATA is a table of samples and variables: csv, tsv (also .gz, .zst), parquet, npz, npy, Excel or
    h5ad. Writes network.tsv, activities.tsv, regulators.tsv, network.graphml, network.cyjs,
    network.gmt, model.rcweb, provenance.json and report.html.
    """
    from rcweb.cli.knowledge import load_knowledge
    from rcweb.io.folder import check_replaceable

    start = time.monotonic()
    parameters = FitParameters(components, method, degree, fdr, quality, seed)
    check_replaceable(out, FILES)  # before the work, not after it
    kept = [f"{out} is as it was; the same command with the same seed gives the same result."]
    with console.interruptible(lambda: kept[-1]):
        knowledge = load_knowledge(sources)
        with console.step(f"reading {data.name}"):
            table = _read(data, reading(), knowledge)
        _tell_table(table, console)
        result = fit_table(table, parameters, data.name, sources, console)
        with console.step("writing results"):
            write_result(out, result, knowledge, h5ad=h5ad)
        kept.append(f"The network is in {out}; name its regulators with `rcweb annotate {out}`.")
        knowledge, annotations = name_and_write(out, result, knowledge, sources, console, h5ad=h5ad)
    summary = summarise(out, result, annotations, time.monotonic() - start)
    console.result(summary, summary_text(summary))


def fit_table(
    table: Table, parameters: FitParameters, name: str, sources: Sources, console: Console
) -> Result:
    """Fit the model and gather what is written."""
    from dataclasses import asdict

    import pandas as pd

    from rcweb.estimator import RCweb
    from rcweb.io.provenance import provenance

    model = RCweb(**asdict(parameters), verbose=int(console.verbose))
    X = _usable(table, model, console)
    with console.step("fitting"), redirect_stdout(sys.stderr):
        model.fit(X)
        activities = model.transform(X)
    model.set_params(verbose=0)  # how much was printed is no part of the result
    for warning in model.warnings_:
        console.say(f"warning: {warning}")
    record = provenance(
        inputs={"data": _facts(table, name), **sources.inputs()},
        parameters=model.get_params(),
        seed=parameters.random_state,
    )
    frame = pd.DataFrame(
        activities, index=list(table.samples), columns=list(model.network_.regulators)
    )
    return Result(model, frame, record, X)


def name_and_write(
    out: Path,
    result: Result,
    knowledge: Knowledge,
    sources: Sources,
    console: Console,
    *,
    h5ad: bool = False,
    title: str = "Hidden regulators",
) -> tuple[Knowledge, Annotations]:
    """Name the regulators of a result that is written already, and write it again with names."""
    from rcweb.cli.knowledge import annotate_model, load_measured

    if sources.measured is not None:
        measured = load_measured(sources.measured, list(result.activities.index))
        knowledge = replace(knowledge, measured=measured)
    if knowledge.known is None and knowledge.terms is None and knowledge.measured is None:
        return knowledge, Annotations()
    with console.step("naming regulators"):
        annotations = annotate_model(result.model, result.activities, knowledge, result.data)
        write_result(out, result, knowledge, annotations, h5ad=h5ad, title=title)
    return knowledge, annotations


def summarise(
    out: Path, result: Result, annotations: Annotations, seconds: float
) -> dict[str, Any]:
    """The machine-readable summary of a run."""
    network = result.model.network_
    P, N = network.shape
    summary: dict[str, Any] = {
        "out": str(out),
        "n_samples": len(result.activities),
        "n_variables": N,
        "n_regulators": P,
        "n_edges": network.n_edges,
        "explained_variance": None if result.data is None else result.model.score(result.data),
        "reason": result.model.reason_,
        "warnings": list(result.model.warnings_),
        "named": {},
        "seconds": round(seconds, 2),
        "report": str(out / "report.html"),
    }
    if annotations.names is not None:
        named = annotations.names["name"]
        summary["named"] = {str(k): str(v) for k, v in named[named != ""].items()}
    return summary


def summary_text(summary: dict[str, Any]) -> str:
    """The same in words."""
    lines = [
        f"{summary['n_regulators']} regulators, {summary['n_edges']:,} edges to "
        f"{summary['n_variables']:,} variables, from {summary['n_samples']:,} samples"
        + _explained(summary["explained_variance"])
        + ".",
        summary["reason"],
    ]
    if summary["named"]:
        names = list(summary["named"].values())
        more = f" and {len(names) - 10} more" if len(names) > 10 else ""
        lines.append(f"{len(names)} named: {', '.join(names[:10])}{more}.")
    lines.append(f"Look at {summary['report']}")
    return "\n".join(line for line in lines if line)


def _explained(share: float | None) -> str:
    if share is None:
        return ""
    if share < 0:
        return "; it explains less of the variance than the means alone"
    return f"; {100 * share:.0f} % of the variance explained"


def _read(data: Path, options: ReadOptions, knowledge: Knowledge) -> Table:
    """Read with all the names that are known, so that the orientation is no guess."""
    from rcweb.io import read_table

    samples = set() if knowledge.sheet is None else set(map(str, knowledge.sheet.index))
    variables: set[str] = set(knowledge.labels or {})
    for sets in (knowledge.known, knowledge.terms):
        variables |= {m for members in (sets.members if sets else ()) for m in members}
    return read_table(data, options, samples=samples, variables=variables)


def _tell_table(table: Table, console: Console) -> None:
    M, N = table.shape
    console.say(f"{M:,} samples x {N:,} variables. {table.notes[-1]}")
    for note in table.notes[:-1]:
        console.detail(note)


def _usable(table: Table, model: RCweb, console: Console) -> Any:
    """The table in the form the model takes; what it cannot take is said with its place."""
    import numpy as np
    from scipy import sparse

    tags = model.__sklearn_tags__().input_tags
    frame = table.frame()
    if sparse.issparse(table.values):
        if not tags.sparse:
            console.say("The sparse table is made dense.")
            accessor: Any = frame.sparse
            return accessor.to_dense()
        return frame
    missing = np.argwhere(np.isnan(np.asarray(table.values)))
    if len(missing) and not tags.allow_nan:
        i, j = missing[0]
        raise ValueError(
            f"{len(missing):,} values are missing, the first in sample {table.samples[i]!r}, "
            f"variable {table.variables[j]!r}; fill them or leave out those variables."
        )
    return frame


def _facts(table: Table, name: str) -> dict[str, Any]:
    M, N = table.shape
    return {"file": name, "sha256": table.sha256, "n_samples": M, "n_variables": N}
