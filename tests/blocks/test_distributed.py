"""A cluster of separate processes: the same answer, also when a worker dies in the middle."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rcweb.blocks.chunked as chunked_module
import rcweb.blocks.route as route
from rcweb import RCweb
from rcweb.activity.stability import resample_stability
from rcweb.engine.matching import match_rows
from rcweb.lab.simulate import simulate

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

from cluster import Cluster, cluster, record  # noqa: E402

P, M, N = 6, 2000, 120
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@contextmanager
def two_workers(folder: Path) -> Iterator[tuple[Cluster, Any]]:
    with cluster(folder) as started, distributed.Client(started.address) as client:
        client.wait_for_workers(2, timeout=600)
        yield started, client


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Of one cluster for all tests that leave its workers alive."""
    with two_workers(tmp_path_factory.mktemp("cluster")) as (_, client):
        yield client


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[tuple[Cluster, Any]]:
    """Of a cluster of the test's own, whose workers it may kill."""
    with two_workers(tmp_path) as both:
        yield both


def table() -> np.ndarray:
    return simulate(M, N, P, noise=0.5, random_state=0).data


def fit(X: Any) -> RCweb:
    return RCweb(P, random_state=0).fit(X)


def assert_same(model: RCweb, reference: RCweb) -> None:
    pairs = match_rows(model.components_, reference.components_)
    found = model.components_[pairs.found] * np.sign(pairs.scale)[:, None]
    np.testing.assert_allclose(found, reference.components_[pairs.other], atol=1e-6)


@pytest.mark.parametrize("most_gram", [8000, 50])
def test_same_answer_on_a_cluster(
    client: Any, most_gram: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two workers give the answer of one process, by both routes; activities stay lazy."""
    monkeypatch.setattr(route, "MOST_GRAM", most_gram)
    chunked = da.from_array(table(), chunks=(150, 50))
    model = fit(chunked)
    assert model.route_ == ("gram" if most_gram == 8000 else "axes")
    assert_same(model, fit(table()) if most_gram == 8000 else fit(np.array(table())))
    activities = model.transform(chunked)
    assert isinstance(activities, da.Array)
    np.testing.assert_allclose(activities.compute(), model.transform(table()), atol=1e-10)


def test_a_worker_dies_in_the_middle(workers: tuple[Cluster, Any], tmp_path: Path) -> None:
    """SIGKILL while chunks are read: the others take over, and no bit of the answer changes."""
    started, _ = workers
    marks = tmp_path / "marks"
    marks.mkdir()
    # Chunks of the workers' own making: nothing of the data comes from this process.
    chunked = da.from_array(table(), chunks=(100, -1))
    slow = chunked.map_blocks(record, str(marks), dtype=float)
    undisturbed = fit(chunked)
    victim = started.workers[0]
    killed_after: list[int] = []

    def kill() -> None:
        while not (any(marks.glob(f"{victim.pid}-*")) and len(list(marks.iterdir())) >= 5):
            time.sleep(0.01)
        killed_after.append(len(list(marks.iterdir())))
        victim.send_signal(signal.SIGKILL)
        (marks / "killed").touch()

    killer = threading.Thread(target=kill)
    killer.start()
    model = fit(slow)
    killer.join()
    chunks = M // 100
    assert 0 < killed_after[0] < chunks, "killed in the middle of the first pass"
    assert len(list(marks.glob("*.mark"))) > chunks, "lost chunks were read again"
    assert victim.wait() == -signal.SIGKILL
    np.testing.assert_array_equal(model.components_, undisturbed.components_)


def test_all_workers_gone_is_said(
    workers: tuple[Cluster, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dask waits for ever; the fit ends with the address of the cluster and the way out."""
    # Longer than a busy machine keeps a living worker silent.
    monkeypatch.setattr(chunked_module, "PATIENCE", 3.0)
    monkeypatch.setattr(chunked_module, "LOOK", 0.1)
    started, _ = workers
    marks, ended = tmp_path / "marks", threading.Event()
    marks.mkdir()
    slow = da.from_array(table(), chunks=(100, -1)).map_blocks(record, str(marks), dtype=float)

    def kill() -> None:
        while len(list(marks.iterdir())) < 5 and not ended.is_set():
            time.sleep(0.01)
        for worker in started.workers:
            worker.send_signal(signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(RuntimeError, match=r"The cluster at tcp://.* has had no worker for"):
            fit(slow)
    finally:
        ended.set()
        killer.join()
    assert len(list(marks.iterdir())) >= 5, "the workers were lost in the middle"


def test_resampling_on_a_cluster(client: Any) -> None:
    """Resamples are fitted by the workers; the frequencies are those of one process."""
    X = table()[:300]
    model = fit(X)
    options: dict[str, Any] = {"n_resamples": 4, "random_state": 0}
    here = resample_stability(model, X, **options)
    there = resample_stability(model, X, executor=client.get_executor(), **options)
    np.testing.assert_array_equal(here.edge_frequency, there.edge_frequency)


def test_benchmark_plan_on_a_cluster(client: Any, tmp_path: Path) -> None:
    """Fits of a plan run on the workers, and their rows come back."""
    from rcweb.lab.benchmark import run
    from rcweb.lab.benchmark.store import read_rows

    options: dict[str, Any] = {"quick": True, "methods": ["fastica"], "seeds": 1}
    folder = run("fig1", out=tmp_path / "out", n_jobs=2, executor=client.get_executor(), **options)
    rows = read_rows(folder / "rows.jsonl")
    assert len(rows) > 1
    assert set(rows["status"]) == {"ok"}
