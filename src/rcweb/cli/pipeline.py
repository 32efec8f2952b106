"""From a table to a written and named result: what `fit`, `annotate` and `demo` share."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rcweb.cli.analyses import associations_of, contrasts_of
from rcweb.cli.console import Console
from rcweb.cli.knowledge import Annotations, Knowledge, Sources, annotate_model
from rcweb.cli.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from rcweb.blocks.large import LargeTable
    from rcweb.estimator import RCweb
    from rcweb.tables import InputCheck, Match, ReadOptions, Table
    from rcweb.tables.look import Side


@dataclass(frozen=True)
class FitParameters:
    """What is handed to `RCweb`."""

    n_components: int | str = "auto"
    method: str = "refined"
    degree: int | None = None
    fdr: float = 0.05
    quality: str = "standard"
    random_state: int = 0
    max_memory: str | None = None
    checkpoint: Path | None = None
    center: bool | str = "auto"
    doubtful: bool = False
    response: str = "auto"


def read_data(data: Path, options: ReadOptions, knowledge: Knowledge) -> Table | LargeTable:
    """Read the table; names from other files decide its orientation. Of a large table only names
    and shape are read."""
    from rcweb.blocks.large import open_large
    from rcweb.tables import read_table

    # Large files first: reading one as a table could exhaust the memory.
    large = open_large(data, options)
    if large is not None:
        return large
    samples = set() if knowledge.sheet is None else set(map(str, knowledge.sheet.index))
    variables = {
        name for names in (knowledge.name_columns or {}).values() for name in names if name
    }
    prior = [sets for _, sets in knowledge.prior or ()]
    for sets in (knowledge.known, knowledge.terms, *prior):
        variables |= {m for members in (sets.members if sets else ()) for m in members}
    return read_table(data, options, samples=samples, variables=variables)


def check_data(table: Table | LargeTable, name: str, matches: Sequence[Match]) -> InputCheck:
    """The input check of a table and of the files beside it."""
    from rcweb.blocks.large import LargeTable
    from rcweb.tables import Look, check_file, look_at, rows_to_look_at
    from rcweb.tables.orientation import Orientation

    way = table.way or Orientation(True, "as made")
    columns: Side = "variables" if way.rows_are_samples else "samples"
    names: Any = (table.samples, table.variables, columns)
    if isinstance(table, LargeTable):
        numbers, values = table.blocks.some(len(rows_to_look_at(*table.shape)))
        look = Look(values, numbers, table.shape[0], *names)
    else:
        look = look_at(table.values, *names)
    check = check_file(
        look,
        name,
        way=way,
        notes=table.notes,
        set_aside=table.set_aside,
        logged=table.logged,
    )
    return replace(check, matches=tuple(matches))


def tell_input(check: InputCheck, console: Console) -> None:
    """Print the input check; what is certainly wrong ends the command."""
    from rcweb.tables import TableError

    console.say(str(check))
    if check.errors:
        raise TableError("\n".join(check.errors))


def tell_missing(table: Table | LargeTable, console: Console) -> None:
    """Print how many values are missing, if any."""
    missing, (M, N) = table.n_missing, table.shape
    if missing:
        console.say(f"{missing:,} of the values are missing ({missing / (M * N):.2%}).")


def fit_table(
    table: Table | LargeTable,
    parameters: FitParameters,
    name: str,
    sources: Sources,
    console: Console,
    check: InputCheck | None = None,
    batch: Sequence[str] | None = None,
    inputs: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    std: bool = False,
    measured: pd.DataFrame | None = None,
) -> Result:
    """Fit the model and gather what is written; `check`, if the input was checked already; `batch`:
    the study of each sample; `inputs`: the record of the files, if there are several; `std` adds
    standard deviations of the activities; `measured` : factors measured in some samples."""
    import pandas as pd

    from rcweb.blocks.large import LargeTable
    from rcweb.estimator import RCweb
    from rcweb.knowledge.names import total_variance
    from rcweb.storage.provenance import provenance
    from rcweb.tables import InputWarning

    model = RCweb(**asdict(parameters), verbose=int(console.verbose))
    X = data = _usable(table, model, console)
    if check is None:
        check = check_data(table, name, ())
        tell_input(check, console)
    # Progress of the fit goes to stderr: stdout holds the result alone, which may be JSON.
    with console.step("fitting"), redirect_stdout(sys.stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # told already, with the options to use
        studies: dict[str, Any] = {} if batch is None else {"batch": batch}
        # Several studies and large tables are matched with the factors after the fit.
        inside = measured is not None and batch is None and not isinstance(table, LargeTable)
        model.fit(X, measured=measured) if inside else model.fit(X, **studies)
        found = model.transform(X, return_std=std, **studies)
        activities, sd = found if std else (found, None)
    # The check of the file knows more (names, options) than that of the array.
    model.input_ = check
    # Verbosity and limits of the machine are not part of the result.
    model.set_params(verbose=0, max_memory=None, checkpoint=None)
    for warning in model.warnings_:
        console.say(f"warning: {warning}")
    record = provenance(
        inputs={**(inputs or {"data": data_facts(table, name)}), **sources.inputs()},
        parameters=model.get_params(),
        seed=parameters.random_state,
        input_check=check.to_plain(),
    )
    axes = {"index": list(table.samples), "columns": model.get_feature_names_out()}
    frame = pd.DataFrame(activities, **axes)
    spread = None if sd is None else pd.DataFrame(sd, **axes)
    if isinstance(table, LargeTable):  # another pass over it is not worth the time
        return Result(model, frame, record, activities_sd=spread)
    if batch is not None:
        from rcweb.estimator.studies import with_common_mean

        # Differences between the means of studies are not what the network explains.
        X = with_common_mean(model, X, batch)
    variance = {
        "total": total_variance(table.values if batch is None else X.to_numpy()),
        "explained": model.score(X, activities=activities),
    }
    # Squares of huge values overflow; the record holds numbers only.
    record["variance"] = {what: v for what, v in variance.items() if math.isfinite(v)}
    return Result(model, frame, record, data, activities_sd=spread, batch=batch)


def tell_forecast(table: Table | LargeTable, parameters: FitParameters, console: Console) -> None:
    """Print the forecast of memory and time as the result of the command."""
    from rcweb.estimator.forecast import forecast_of, forecast_text

    expected = forecast_of(
        getattr(table, "values", None),
        table.shape,
        parameters.n_components,
        method=parameters.method,
        quality=parameters.quality,
    )
    console.result(asdict(expected), forecast_text(expected))


def _usable(table: Table | LargeTable, model: RCweb, console: Console) -> Any:
    """The table in the form the model takes."""
    from scipy import sparse

    from rcweb.blocks.large import LargeTable

    if isinstance(table, LargeTable):
        return table.blocks
    dense = not model.__sklearn_tags__().input_tags.sparse
    if sparse.issparse(table.values) and dense:
        console.say("The sparse table is made dense.")
    return table.frame(dense=dense)


def data_facts(table: Table | LargeTable, name: str) -> dict[str, Any]:
    """What the record says about the table."""
    M, N = table.shape
    return {"file": name, "sha256": table.sha256, "n_samples": M, "n_variables": N}


def give_names(result: Result, knowledge: Knowledge, console: Console) -> Annotations:
    """Name the targets as told and the regulators by what is known, if anything is; the names are
    set in the model."""
    result.model.set_names(targets=knowledge.labels)
    if knowledge.prior is not None:
        with console.step("judging known targets"):
            result.model.guide(list(knowledge.prior), knowledge.variable_groups)
    if knowledge.measured is not None and not result.model.has_measured:
        result.model.measure(result.activities, knowledge.measured)
    annotations = Annotations(
        contrasts=contrasts_of(result.activities, knowledge, console),
        associations=associations_of(result.activities, knowledge),
    )
    if not knowledge.names_regulators:
        return annotations
    with console.step("naming regulators"):
        annotations = annotate_model(
            result.model, result.activities, knowledge, result.variance("total"), annotations
        )
    if annotations.names is not None:
        result.model.set_names(annotations.names["name"])
    return annotations
