"""Uses an installed rcweb as its users do: the core, and every extra that is there.

    python tests/release/smoke.py [EXTRA ...]

The extras named must work. One that is not installed must say what to install. Run by ``nox -s
wheel`` in fresh environments, and by ``test_smoke.py`` in the present one.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import metadata, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

import rcweb
from rcweb import RCweb, load_model, read_table, save_model
from rcweb.simulate import simulate


def planted() -> pd.DataFrame:
    data = simulate(60, 30, 3, density=0.2, noise=0.05, random_state=0).data
    return pd.DataFrame(data, columns=[f"gene{j}" for j in range(30)]).rename(index="s{}".format)


@cache
def fitted() -> RCweb:
    return RCweb(3, random_state=0).fit(planted())


def installed() -> None:
    """What the wheel says of itself. An editable installation may say what was true once."""
    assert version("rcweb") == rcweb.__version__
    assert metadata("rcweb")["License-Expression"] == "BSD-3-Clause"
    assert (Path(rcweb.__file__).parent / "py.typed").is_file()
    assert "site-packages" in rcweb.__file__, f"{rcweb.__file__} is not the wheel"


def core(folder: Path) -> None:
    """Needs no extra: fit, save, load, a table of text, a page."""
    table = planted()
    table.to_csv(folder / "table.csv")
    read = read_table(folder / "table.csv").frame()
    assert read.shape == table.shape
    model = RCweb(3, random_state=0).fit(read)
    save_model(model, folder / "model.rcweb")
    loaded = load_model(folder / "model.rcweb")
    assert loaded.transform(read).tobytes() == model.transform(read).tobytes()
    assert len(loaded.network_.edges()) > 0
    page = rcweb.report.write_report(folder / "report.html", rcweb.report.report_data(model, read))
    assert "gene0" in page.read_text(encoding="utf-8")


def _command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rcweb.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def cli(folder: Path) -> None:
    """From a file to a folder of results."""
    planted().to_csv(folder / "table.csv")
    run = _command("fit", folder / "table.csv", "--components", "3", "-o", folder / "out")
    assert run.returncode == 0, run.stderr
    assert (folder / "out" / "network.tsv").is_file()
    assert rcweb.__version__ in _command("--version").stdout


def without_cli(folder: Path) -> None:
    run = _command("--version")
    assert run.returncode == 4, run
    raise ImportError(run.stderr)


def plot(folder: Path) -> None:
    """A figure of each kind that needs nothing but a model."""
    import matplotlib

    matplotlib.use("Agg")
    model = fitted()
    for k, axes in enumerate(
        (rcweb.plot.spectrum(model), rcweb.plot.targets(model.network_, "rcweb0"))
    ):
        figure = axes.get_figure()
        assert figure is not None
        figure.savefig(folder / f"{k}.png")
        assert (folder / f"{k}.png").stat().st_size > 1000


def without_plot(folder: Path) -> None:
    rcweb.plot.spectrum([3.0, 2.0, 1.0])


def graph(folder: Path) -> None:
    """The exported network is one that networkx reads."""
    import networkx

    network = fitted().network_
    network.save(folder / "network.graphml")
    read = networkx.read_graphml(folder / "network.graphml")
    assert read.number_of_edges() == network.n_edges


def tables(folder: Path) -> None:
    """Parquet, Excel and packed text hold the same table."""
    import zstandard

    table = planted()
    table.to_parquet(folder / "t.parquet")
    table.to_excel(folder / "t.xlsx")
    packed = zstandard.ZstdCompressor().compress(table.to_csv().encode())
    (folder / "t.csv.zst").write_bytes(packed)
    for name in ("t.parquet", "t.xlsx", "t.csv.zst"):
        np.testing.assert_allclose(read_table(folder / name).values, table.to_numpy())


def without_pyarrow(folder: Path) -> None:
    (folder / "t.parquet").write_bytes(b"PAR1")
    read_table(folder / "t.parquet")


def without_openpyxl(folder: Path) -> None:
    (folder / "t.xlsx").write_bytes(b"PK")
    read_table(folder / "t.xlsx")


def without_zstandard(folder: Path) -> None:
    (folder / "t.csv.zst").write_bytes(bytes.fromhex("28b52ffd") + bytes(8))
    read_table(folder / "t.csv.zst")


def anndata(folder: Path) -> None:
    """An object is filled; a file is read, in memory and in blocks."""
    from anndata import AnnData

    adata = AnnData(planted())
    model = rcweb.fit_anndata(adata, n_components=3)
    assert adata.obsm["X_rcweb"].shape == (60, 3)
    adata.write_h5ad(folder / "t.h5ad")
    assert read_table(folder / "t.h5ad").shape == (60, 30)
    np.testing.assert_allclose(model.transform(folder / "t.h5ad"), adata.obsm["X_rcweb"])


def without_anndata(folder: Path) -> None:
    (folder / "t.h5ad").write_bytes(bytes.fromhex("894844460d0a1a0a"))
    RCweb(3).fit(folder / "t.h5ad")


def scale(folder: Path) -> None:
    """A zarr array, a dask array, and a cluster, if only of threads."""
    import dask.array as da
    import zarr
    from distributed import Client

    table = planted().to_numpy()
    model = RCweb(3).fit(table)
    stored = zarr.create_array(str(folder / "t.zarr"), shape=table.shape, dtype="float64")
    stored[:] = table
    np.testing.assert_allclose(model.transform(folder / "t.zarr"), model.transform(table))
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None):
        lazy = model.transform(da.from_array(table, chunks=(20, 30)))
        np.testing.assert_allclose(np.asarray(lazy), model.transform(table))


def without_zarr(folder: Path) -> None:
    (folder / "t.zarr").mkdir()
    usual = '{"zarr_format": 2, "shape": [6, 4], "chunks": [6, 4], "dtype": "<f8", "order": "C", '
    (folder / "t.zarr" / ".zarray").write_text(
        usual + '"compressor": null, "filters": null, "fill_value": 0.0}'
    )
    RCweb(3).fit(folder / "t.zarr")


@dataclass(frozen=True)
class Extra:
    """use : works with all of `packages`; without : {package: what fails where it is missing}."""

    use: Callable[[Path], None]
    packages: tuple[str, ...]
    without: dict[str, Callable[[Path], None]]


EXTRAS = {
    "cli": Extra(cli, ("click",), {"click": without_cli}),
    "plot": Extra(plot, ("matplotlib",), {"matplotlib": without_plot}),
    # Nothing in rcweb imports networkx: it reads what rcweb writes.
    "graph": Extra(graph, ("networkx",), {}),
    "tables": Extra(
        tables,
        ("pyarrow", "openpyxl", "zstandard"),
        {
            "pyarrow": without_pyarrow,
            "openpyxl": without_openpyxl,
            "zstandard": without_zstandard,
        },
    ),
    "anndata": Extra(anndata, ("anndata",), {"anndata": without_anndata}),
    # Who has a dask array has dask.
    "scale": Extra(scale, ("dask", "distributed", "zarr"), {"zarr": without_zarr}),
}


def check_missing(extra: str, package: str) -> None:
    """The error of what needs `package` names the extra to install."""
    said = ""
    with tempfile.TemporaryDirectory() as folder:
        try:
            EXTRAS[extra].without[package](Path(folder))
        except ImportError as error:
            said = str(error)
    assert f"pip install 'rcweb[{extra}]'" in said, f"without {package}: {said or 'no error'}"


def main(asked: list[str]) -> None:
    installed()
    with tempfile.TemporaryDirectory() as folder:
        core(Path(folder))
    print("core: fitted, saved, loaded")
    for name, extra in EXTRAS.items():
        missing = [package for package in extra.packages if find_spec(package) is None]
        if not missing:
            with tempfile.TemporaryDirectory() as folder:
                extra.use(Path(folder))
            print(f"{name}: used")
            continue
        if name in asked:
            raise SystemExit(f"the extra {name} does not install {', '.join(missing)}")
        told = [package for package in missing if package in extra.without]
        for package in told:
            check_missing(name, package)
        print(f"{name}: not installed" + (f"; {', '.join(told)} named as missing" if told else ""))


if __name__ == "__main__":
    wanted = sys.argv[1:]
    main(list(EXTRAS) if wanted == ["all"] else wanted)
