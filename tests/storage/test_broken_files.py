"""Input that is cut off, forbidden, vanishing or changing: one sentence each, nothing lost."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")

from rcweb.cli.app import INPUT, run
from rcweb.lab.simulate import simulate

OPTIONS = ("--method", "paper", "--components", "3", "-q")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    data = simulate(60, 40, 3, noise=0.05, random_state=0).data
    rows, columns = [f"s{i}" for i in range(60)], [f"g{j}" for j in range(40)]
    return pd.DataFrame(data, index=rows, columns=columns)


def write(frame: pd.DataFrame, path: Path) -> Path:
    name = path.name
    if name.endswith(".npy"):
        np.save(path, frame.to_numpy())
    elif name.endswith(".npz"):
        np.savez(path, X=frame.to_numpy())
    elif name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith(".xlsx"):
        frame.to_excel(path)
    elif name.endswith(".h5ad"):
        import anndata

        anndata.AnnData(frame).write_h5ad(path)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(frame.to_csv().encode()))
    elif name.endswith(".zst"):
        path.write_bytes(pytest.importorskip("zstandard").compress(frame.to_csv().encode()))
    return path


def earlier_result(frame: pd.DataFrame, tmp_path: Path) -> tuple[Path, dict[str, bytes]]:
    """A folder of results that a failing run must not touch."""
    frame.to_csv(tmp_path / "good.csv")
    out = tmp_path / "out"
    assert run(["fit", str(tmp_path / "good.csv"), "-o", str(out), *OPTIONS]) == 0
    return out, content(out)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_sentence(text: str, *words: str) -> None:
    """One line from rcweb, with the words, and no traceback."""
    assert text.startswith("rcweb: ")
    assert text.count("\n") == 1
    assert "Traceback" not in text
    assert "a defect" not in text
    for word in words:
        assert word in text


@pytest.mark.parametrize(
    "name", ["t.npy", "t.npz", "t.csv.gz", "t.csv.zst", "t.parquet", "t.h5ad", "t.xlsx"]
)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.6, 0.99])
def test_a_file_that_is_cut_off(frame, tmp_path, capsys, name, share):
    """As a broken download leaves it; the earlier result stays, and no litter beside it."""
    out, before = earlier_result(frame, tmp_path)
    path = write(frame, tmp_path / name)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    capsys.readouterr()
    assert run(["fit", str(path), "-o", str(out), *OPTIONS]) == INPUT
    check_sentence(capsys.readouterr().err, name)
    assert content(out) == before
    assert {p.name for p in tmp_path.iterdir()} == {"good.csv", "out", name}


def test_a_zarr_folder_without_its_description(frame, tmp_path):
    """An error, whatever zarr itself makes of the chunks that are left."""
    zarr = pytest.importorskip("zarr")
    from rcweb import RCweb

    path = tmp_path / "t.zarr"
    array = zarr.create_array(str(path), shape=(60, 40), chunks=(10, 40), dtype="f8")
    array[:] = frame.to_numpy()
    RCweb(3).fit(path)
    for file in [*path.rglob("zarr.json"), *path.rglob(".zarray")]:
        file.unlink()
    with pytest.raises((ValueError, OSError)):
        RCweb(3).fit(path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(frame, tmp_path, capsys):
    """Said with the name of the file."""
    out, before = earlier_result(frame, tmp_path)
    path = write(frame, tmp_path / "t.npy")
    path.chmod(0)
    capsys.readouterr()
    assert run(["fit", str(path), "-o", str(out), *OPTIONS]) != 0
    assert "t.npy" in capsys.readouterr().err
    assert content(out) == before


@pytest.mark.parametrize("name", ["t.csv", "t.npy", "t.csv.gz"])
def test_reading_is_refused_by_the_system(frame, tmp_path, capsys, monkeypatch, name):
    """The same as above where the tests run as root: the system says no when the file is opened."""
    out, before = earlier_result(frame, tmp_path)
    path = write(frame, tmp_path / name)
    if name == "t.csv":
        frame.to_csv(path)
    real_open = Path.open

    def refuse(self, *args, **kwargs):
        if self.name == name:
            raise PermissionError(13, "Permission denied", str(self))
        return real_open(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", refuse)
    capsys.readouterr()
    assert run(["fit", str(path), "-o", str(out), *OPTIONS]) == INPUT
    monkeypatch.undo()
    check_sentence(capsys.readouterr().err, name, "Permission denied")
    assert content(out) == before


def fit_a_file_that_meets(monkeypatch, frame, tmp_path, capsys, accident) -> str:
    """What `rcweb fit` says of a table to which `accident` happens once it was read; an earlier
    result stays as it was."""
    from rcweb.tables import read

    out, before = earlier_result(frame, tmp_path)
    path = tmp_path / "t.csv"
    frame.to_csv(path)
    original = read._read_grid

    def read_then_accident(file, options):
        grid = original(file, options)
        accident(file)
        return grid

    monkeypatch.setattr(read, "_read_grid", read_then_accident)
    capsys.readouterr()
    assert run(["fit", str(path), "-o", str(out), *OPTIONS]) == INPUT
    assert content(out) == before
    return capsys.readouterr().err


def test_a_file_that_vanishes_before_its_checksum(frame, tmp_path, capsys, monkeypatch):
    """Removed while it was being read."""
    said = fit_a_file_that_meets(monkeypatch, frame, tmp_path, capsys, Path.unlink)
    check_sentence(said, "t.csv", "vanished")


def test_a_file_that_changes_while_it_is_read(frame, tmp_path, capsys, monkeypatch):
    """Else the record of the run would name the checksum of another table than was fitted."""

    def rewrite(file):
        writer = threading.Thread(target=(2 * frame).to_csv, args=(file,))
        writer.start()
        writer.join()

    said = fit_a_file_that_meets(monkeypatch, frame, tmp_path, capsys, rewrite)
    check_sentence(said, "t.csv", "changed while it was read")
