"""The forecast of memory against what processes really took, and the refusal that rests on it."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rcweb import RCweb
from rcweb.estimator.forecast import (
    KINDS,
    Forecast,
    MemoryForecastError,
    check_memory,
    forecast,
    forecast_text,
)

LOWEST, HIGHEST = 0.8, 1.5  # of forecast over measured
LIBRARIES = 128e6  # by which imported libraries differ between two environments
MEASURE = """
import sys
import numpy as np
from scipy import sparse
from rcweb import RCweb
kind, M, N, P, method, folder = sys.argv[1], *map(int, sys.argv[2:5]), *sys.argv[5:]
rng = np.random.default_rng(0)
RCweb(2, method=method).fit(rng.standard_normal((60, 40)))  # loads the program
if kind == "sparse":
    X = sparse.random(M, N, 0.05, format="csr", random_state=0)
elif kind == "chunked":
    import zarr
    X = folder + "/t.zarr"
    array = zarr.create_array(X, shape=(M, N), chunks=(1000, N), dtype="f8")
    for start in range(0, M, 1000):
        array[start : start + 1000] = rng.standard_normal((min(1000, M - start), N))
else:  # filled in place, so that making it takes no more than holding it
    X = rng.standard_normal((M, N))
    X[:, : N // 2] += rng.standard_normal((M, 1))
RCweb(P, method=method, random_state=0).fit(X)
# Not ru_maxrss: a child of a large process inherits its peak.
lines = open("/proc/self/status").read().splitlines()
print(next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM")))
modules = [module for name, module in sys.modules.items() if name.startswith("rcweb.")]
loops = [loop for module in modules for loop in vars(module).values() if hasattr(loop, "py_func")]
assert loops
print(sum(sum(loop.stats.cache_misses.values()) for loop in loops))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory as Linux counts it")
@pytest.mark.parametrize(
    ("kind", "M", "N", "P", "method"),
    [
        ("dense", 700, 2500, 3, "refined"),
        ("dense", 25_000, 500, 3, "refined"),
        ("dense", 900, 900, 3, "paper"),
        ("sparse", 8_000, 1_200, 3, "refined"),
        ("chunked", 12_000, 600, 3, "refined"),
    ],
)
def test_peak_memory_is_foreseen(tmp_path, kind, M, N, P, method):
    """Shapes that the constants were not tuned on; each in a process of its own."""
    if kind == "chunked":
        pytest.importorskip("zarr")
    for attempt in ("first", "again"):  # compiling, once on a machine, takes memory of its own
        (tmp_path / attempt).mkdir()
        given = [kind, str(M), str(N), str(P), method, str(tmp_path / attempt)]
        command = [sys.executable, "-c", MEASURE, *given]
        measured, compiled = map(int, subprocess.check_output(command, text=True).split())
        if not compiled:
            break
    nnz = int(0.05 * M * N) if kind == "sparse" else None
    expected = forecast((M, N), P, method=method, kind=kind, nnz=nnz).peak_bytes
    assert LOWEST * (measured - LIBRARIES) < expected < HIGHEST * measured


shapes = st.tuples(st.integers(2, 10**6), st.integers(2, 20_000))


@settings(max_examples=200)
@given(shape=shapes, P=st.integers(1, 200), kind=st.sampled_from(KINDS))
def test_more_never_takes_less(shape, P, kind):
    """More samples, more regulators, longer quality: neither memory nor time goes down, except
    where more samples change the way the table is taken."""
    M, N = shape
    nnz = M * N // 20 + 1 if kind == "sparse" else None
    one = forecast(shape, P, kind=kind, nnz=nnz)
    more = forecast(shape, P + 10, kind=kind, nnz=nnz)
    assert more.peak_bytes >= one.peak_bytes
    assert more.seconds >= one.seconds
    assert forecast(shape, P, quality="high", kind=kind, nnz=nnz).seconds >= one.seconds
    assert one.peak_bytes == sum(size for _, size in one.parts)
    assert all(size >= 0 for _, size in one.parts)


def test_a_large_chunked_table_needs_little():
    """16 GB on disk in less than 2 GB: what blocks are for."""
    assert forecast((2_000_000, 1_000), 50, kind="chunked").peak_bytes < 2e9
    assert forecast((2_000_000, 1_000), 50, kind="dense").peak_bytes > 16e9
    sparse = forecast((100_000, 20_000), 50, kind="sparse", nnz=10**8)
    assert 1.2e9 < sparse.peak_bytes < 4e9


def test_the_sentence_and_the_table_say_it_all():
    """Shape, size, time; the parts below it, the largest first."""
    expected = forecast((1000, 200_000), 30)
    assert "1,000 samples x 200,000 variables" in expected.sentence
    assert "GB of memory" in expected.sentence
    sizes = [size for _, size in expected.parts]
    assert sizes == sorted(sizes, reverse=True)
    assert len(forecast_text(expected).splitlines()) == 1 + len(sizes)


def test_times_say_what_they_leave_out():
    """Sampling cannot be foreseen from a shape: the sentence tells it where it may be needed."""
    assert "may take longer" in forecast((200, 2000), 30).sentence
    assert "likely, longer" in forecast((9000, 900), 30, kind="sparse", nnz=10**5).sentence
    assert "longer" not in forecast((200, 2000), 30, method="paper").sentence


def test_a_fit_that_cannot_fit_is_refused_before_it_begins(monkeypatch):
    """With the number, the limit and the way out; nothing is allocated."""
    monkeypatch.setattr("rcweb.estimator.fitting.fit_whole", lambda *args: pytest.fail("it began"))
    X = np.zeros((10, 20))
    message = r"takes about 30\d MB.*20(0|\.0) MB are allowed.*fewer regulators.*raise max_memory"
    with pytest.raises(MemoryForecastError, match=message):
        RCweb(2, max_memory="200MB").fit(X)
    monkeypatch.setattr("rcweb.estimator.forecast._limit", lambda: 300_000_000)
    with pytest.raises(MemoryError, match="300 MB are available"):
        RCweb(2).fit(X)


def test_a_close_call_is_a_warning():
    """From four fifths of the limit on; below it silence."""
    expected = Forecast(900, 1.0, (("table", 900),), "It takes 900 bytes.")
    with pytest.warns(RuntimeWarning, match="1.0 kB are allowed .max_memory.. That is close"):
        check_memory(expected, 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_memory(expected, 2000)
        check_memory(expected)
    with pytest.raises(MemoryForecastError):
        check_memory(expected, 899)


def test_wrong_questions_are_answered():
    """Each with what is right."""
    with pytest.raises(ValueError, match="at least 2 samples"):
        forecast((1, 5))
    with pytest.raises(ValueError, match="one of dense, sparse, chunked"):
        forecast((5, 5), kind="odd")
    with pytest.raises(ValueError, match="give nnz"):
        forecast((5, 5), kind="sparse")
    with pytest.raises(ValueError, match="is no size"):
        RCweb(2, max_memory="much").fit(np.eye(5))


def test_the_command_line_forecasts_and_ends(tmp_path, capsys):
    """``--forecast`` writes nothing and needs no folder; ``--max-memory`` is honoured."""
    pytest.importorskip("click")
    from rcweb.cli.app import run

    path = tmp_path / "t.npy"
    np.save(path, np.random.default_rng(0).standard_normal((30, 20)))
    assert run(["fit", str(path), "--forecast"]) == 0
    assert "takes about 305 MB" in capsys.readouterr().out
    assert run(["fit", str(path), "--forecast", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["peak_bytes"] > 300_000_000
    assert [p.name for p in tmp_path.iterdir()] == ["t.npy"]
    arguments = ["fit", str(path), "-o", str(tmp_path / "out")]
    assert run([*arguments, "--max-memory", "100MB"]) == 3
    assert "100 MB are allowed" in capsys.readouterr().err
    assert run([*arguments, "--max-memory", "lots"]) == 2
    assert run(["fit", str(path)]) == 2
    assert run([*arguments, "--checkpoint", str(tmp_path / "out" / "c")]) == 2
    assert not (tmp_path / "out").exists()
