"""Options that several commands share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rcweb.cli.knowledge import Sources

if TYPE_CHECKING:
    from rcweb.tables import ReadOptions

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
TABLE = click.Path(exists=True, path_type=Path)  # a .zarr is a folder
overwrite_option = click.option(
    "--overwrite",
    is_flag=True,
    help="Replace files of the same names that were changed, or that rcweb did not write.",
)
std_option = click.option(
    "--std", is_flag=True, help="Also write how uncertain every activity is (standard deviation)."
)
_READING = (
    "transpose",
    "header",
    "index",
    "delimiter",
    "encoding",
    "drop",
    "layer",
    "sheet",
    "log",
)


def reading_options(function: F) -> F:
    """How to read a table; gathered into one `ReadOptions` called `reading`."""

    @click.option(
        "--transpose/--no-transpose",
        default=None,
        help="Rows are variables / samples. Default: detected and reported.",
    )
    @click.option("--header/--no-header", default=None, help="The first line holds names or not.")
    @click.option("--index/--no-index", default=None, help="The first column holds names or not.")
    @click.option("--delimiter", metavar="CHAR", help="Between fields. Default: detected.")
    @click.option("--encoding", metavar="NAME", help="Of text, such as latin-1. Default: UTF-8.")
    @click.option("--drop", metavar="TITLE", multiple=True, help="Leave this column out.")
    @click.option("--layer", metavar="NAME", help="Of an .h5ad file. Default: X.")
    @click.option("--sheet", metavar="NAME", help="Of an Excel file. Default: the first.")
    @click.option("--log", is_flag=True, help="Take log2(x + 1) of every value, as of counts.")
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        # Commands get one object instead of nine arguments.
        said = {name: kwargs.pop(name) for name in _READING}
        return function(*args, reading=_read_options(said), **kwargs)

    return wrapped  # type: ignore[return-value]


def _read_options(said: dict[str, Any]) -> Callable[[], ReadOptions]:
    """Made when needed: reading imports pandas."""

    def make() -> ReadOptions:
        from rcweb.tables import ReadOptions

        return ReadOptions(**said)

    return make


def knowledge_options(function: F) -> F:
    """What is known beside the table: gathered into one `Knowledge`."""

    @click.option(
        "--sets",
        type=FILE,
        multiple=True,
        help="Known targets of regulators, .gmt or a table of edges; regulators are named by them.",
    )
    @click.option("--source-column", metavar="TITLE", help="Of regulators in a table of edges.")
    @click.option("--target-column", metavar="TITLE", help="Of targets in a table of edges.")
    @click.option("--weight-column", metavar="TITLE", help="Of effects in a table of edges.")
    @click.option(
        "--prior",
        type=FILE,
        multiple=True,
        help="Known targets to judge by the data, as --sets; new ones are looked for.",
    )
    @click.option(
        "--groups",
        type=FILE,
        help="Variables related for another reason, such as operons: a table of variable, group.",
    )
    @click.option("--terms", type=FILE, multiple=True, help="Functional terms, .gmt, such as GO.")
    @click.option(
        "--measured", type=FILE, help="Regulators measured in some samples: samples x regulators."
    )
    @click.option("--samples", type=FILE, help="Sample sheet; its first column is the sample.")
    @click.option("--group", metavar="TITLE", help="Column of the sheet that colours the report.")
    @click.option("--reference", metavar="LABEL", help="Group that others are compared with.")
    @click.option("--names", type=FILE, help="Names to show: a table of identifiers and names.")
    @click.option(
        "--names-columns",
        nargs=2,
        metavar="ID NAME",
        help="Titles of its columns to use. Default: detected and reported.",
    )
    @click.option(
        "--link",
        metavar="URL",
        callback=_checked_link,
        help="Page of a variable, such as https://.../{id}, or with {name}; linked in the report.",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        sources = Sources(**{field.name: kwargs.pop(field.name) for field in fields(Sources)})
        _check_alone(sources)
        return function(*args, sources=sources, **kwargs)

    return wrapped  # type: ignore[return-value]


def _checked_link(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """The template, or a usage error before any work is done."""
    if value is None:
        return None
    from rcweb.report.genes import checked_link

    try:
        return checked_link(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from None


def _check_alone(sources: Sources) -> None:
    """An option about a file that is not there would change nothing."""
    for option, value, file, path in (
        ("--group", sources.group, "--samples", sources.samples),
        ("--names-columns", sources.names_columns, "--names", sources.names),
    ):
        if value is not None and path is None:
            raise click.UsageError(f"{option} names a column of {file}; give {file} FILE too.")
    if sources.reference is not None and sources.samples is None:
        raise click.UsageError("--reference is a group of --samples; give --samples FILE too.")
    if sources.groups is not None and not sources.prior:
        raise click.UsageError("--groups is about the members of --prior; give --prior FILE too.")
