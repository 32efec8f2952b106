"""Checks of the output before the work begins, so that no long fit fails at its end."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rcweb.cli.knowledge import Knowledge, Sources
from rcweb.cli.results import sheet_of

if TYPE_CHECKING:
    from rcweb.blocks.large import LargeTable
    from rcweb.tables import Table


def check_output(
    out: Path, names: tuple[str, ...], sources: Sources, *data: Path, overwrite: bool
) -> None:
    """Raise ValueError if results cannot be written to the folder `out` without any loss."""
    from rcweb.storage.folder import check_folder

    check_folder(out, names, inputs=[*data, *sources.paths()], overwrite=overwrite)


def check_output_file(out: Path, *inputs: Path, overwrite: bool) -> None:
    """Raise ValueError if `out` cannot be written without any loss.

    A file has no record that says who wrote it, so one that is there is never replaced unasked.
    """
    from rcweb.storage.atomic import check_free, probing
    from rcweb.storage.ownership import check_apart

    check_apart(out, inputs)
    if out.is_dir():
        raise ValueError(f"{out} is a folder and is not replaced; name another output.")
    if not overwrite:
        check_free(out)
    # Only tries to write; nothing is left behind.
    with probing(out):
        pass


def check_package(name: str, what: str, extra: str) -> None:
    """Raise ImportError, with what to install, if the package cannot be imported."""
    try:
        # Imported, not just looked up: a broken installation must fail now too.
        import_module(name)
    except ImportError:
        raise ImportError(f"{what} needs {name}: pip install 'rcweb[{extra}]'") from None


def check_h5ad(table: Table | LargeTable, knowledge: Knowledge) -> None:
    """Raise ValueError if the table or its sheet of samples cannot be part of an .h5ad file."""
    import anndata

    from rcweb.blocks.large import LargeTable
    from rcweb.storage.errors import reason

    if isinstance(table, LargeTable):
        raise ValueError(
            "--h5ad writes the whole table, and this one is read in blocks; leave --h5ad out."
        )
    if knowledge.sheet is not None:
        # Tried on the sheet alone, which is small and holds whatever a user typed.
        adata = anndata.AnnData(obs=sheet_of(knowledge.sheet, table.samples))
        with TemporaryDirectory() as folder:
            try:
                adata.write_h5ad(Path(folder) / "sheet.h5ad")
            except Exception as error:  # anndata raises many kinds
                raise ValueError(
                    f"--h5ad cannot hold the sheet of samples: {reason(error)}."
                ) from None
