"""A fit killed or interrupted at any moment goes on from its checkpoint to the same bits."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from rcweb import RCweb
from rcweb.lab.simulate import simulate
from rcweb.storage.checkpoint import CheckpointError

# Three searches and a long chain: much that can be lost.
FIT = """
import sys
import numpy as np
import rcweb.storage.checkpoint
from rcweb import RCweb
rcweb.storage.checkpoint.EVERY = 0.02
X = np.load(sys.argv[1])
RCweb(2, quality="high").fit(X[:50, :40])  # compiled code is loaded
print("started", flush=True)
model = RCweb(8, quality="high", random_state=3, checkpoint=sys.argv[3] or None).fit(X)
np.savez(sys.argv[2], *[
    model.components_, model.edge_probability_, model.edge_score_, model.projection_,
    model.noise_, model.rotation_, model.singular_values_,
])
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("killed") / "X.npy"
    np.save(path, simulate(150, 150, 8, noise=0.5, random_state=0).data)
    return path


def fit(data: Path, out: Path, checkpoint: Path | str, stop: int = 0, how=signal.SIGKILL) -> int:
    """Run the fit in a process of its own; send a signal once its checkpoint has changed `stop`
    times. Returns its exit code."""
    command = [sys.executable, "-c", FIT, str(data), str(out), str(checkpoint)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        # A parent that ignores SIGINT would hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    state, n_changes = saved(checkpoint), 0
    while n_changes < stop and process.poll() is None:
        time.sleep(0.002)
        before, state = state, saved(checkpoint)
        n_changes += state != before
    if stop:
        process.send_signal(how)
    process.communicate()
    return process.returncode


def saved(checkpoint: Path | str) -> set[tuple[str, int]]:
    """Names and times of the stages that are on disk."""
    found = set()
    for path in Path(checkpoint).glob("[!.]*.stage") if checkpoint else ():
        with suppress(FileNotFoundError):
            found.add((path.name, path.stat().st_mtime_ns))
    return found


def digest(path: Path) -> str:
    with np.load(path) as arrays:
        return hashlib.sha256(b"".join(arrays[k].tobytes() for k in arrays.files)).hexdigest()


@pytest.fixture(scope="module")
def whole(data) -> str:
    """The result of a run that nobody disturbed, without a checkpoint."""
    out = data.with_name("whole.npz")
    assert fit(data, out, "") == 0
    return digest(out)


@pytest.mark.parametrize("times", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["SIGKILL", "Ctrl-C"])
def test_a_killed_fit_ends_with_the_same_bits(data, whole, tmp_path, how, times):
    """Killed after some saves, then left alone; and no file is half-written."""
    rng = np.random.default_rng([int(os.environ.get("RCWEB_SEED", 0)), how, times])
    out, checkpoint = tmp_path / "out.npz", tmp_path / "checkpoint"
    n_killed = 0
    while n_killed < times:
        if fit(data, out, checkpoint, int(rng.integers(1, 6)), how) == 0:
            shutil.rmtree(checkpoint)  # it was over before: from the beginning
        else:
            n_killed += 1
    assert saved(checkpoint), "nothing was saved before the last kill"
    assert fit(data, out, checkpoint) == 0
    assert digest(out) == whole
    assert {path.suffix for path in checkpoint.iterdir()} == {".stage"}


def test_the_chain_is_saved_in_the_middle(data, tmp_path, monkeypatch):
    """Interruptions between two sweeps, every 130 of them, lose no bit."""
    from rcweb.engine.posterior.gibbs import Chain

    X = np.load(data)
    parameters = {"n_components": 8, "quality": "high", "random_state": 1}
    expected = RCweb(**parameters).fit(X)
    monkeypatch.setattr("rcweb.storage.checkpoint.EVERY", 0.0)
    whole_sweep, swept = Chain._sweep, [0]

    def interrupted(self, shaped, measured):
        if swept[0] == 130:
            raise KeyboardInterrupt
        swept[0] += 1
        whole_sweep(self, shaped, measured)

    monkeypatch.setattr(Chain, "_sweep", interrupted)
    n_interruptions = 0
    while True:
        swept[0] = 0
        try:
            model = RCweb(**parameters, checkpoint=tmp_path / "c").fit(X)
            break
        except KeyboardInterrupt:
            n_interruptions += 1
    assert n_interruptions >= 3
    for name in ("components_", "edge_probability_", "projection_", "noise_"):
        assert getattr(model, name).tobytes() == getattr(expected, name).tobytes()


def test_other_data_or_parameters_are_refused(data, tmp_path):
    """With a checkpoint of another fit nothing is computed, and the checkpoint stays."""
    X = np.load(data)
    RCweb(4, random_state=0, checkpoint=tmp_path / "c").fit(X)
    before = {path: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert before
    for model, table, message in (
        (RCweb(4, random_state=0), X + 1e-9, "the data differ"),
        (RCweb(5, random_state=0), X, "n_components was 4 and is 5"),
        (RCweb(4, random_state=1), X, "random_state was 0 and is 1"),
    ):
        with pytest.raises(CheckpointError, match=message):
            model.set_params(checkpoint=str(tmp_path / "c")).fit(table)
    assert {path: path.read_bytes() for path in (tmp_path / "c").iterdir()} == before
    again = RCweb(4, random_state=0, checkpoint=tmp_path / "c", verbose=0, max_memory="9GB").fit(X)
    assert again.components_.shape == (4, 150)


def test_a_checkpoint_needs_what_can_be_repeated(data, tmp_path):
    """A generator in some state, or the published method, cannot go on."""
    X = np.load(data)
    with pytest.raises(TypeError, match="must be None or a whole number"):
        RCweb(4, random_state=np.random.RandomState(0), checkpoint=tmp_path / "c").fit(X)
    with pytest.raises(ValueError, match="is for method 'refined'"):
        RCweb(4, method="paper", checkpoint=tmp_path / "c").fit(X)
    with pytest.raises(TypeError, match="None or a path"):
        RCweb(4, checkpoint=3).fit(X)
    assert not (tmp_path / "c").exists()


def test_without_a_seed_it_goes_on_with_the_seed_it_began_with(data, tmp_path):
    """random_state=None draws a new seed each time; a resumed fit must not."""
    X = np.load(data)
    first = RCweb(4, checkpoint=tmp_path / "c").fit(X)
    again = RCweb(4, checkpoint=tmp_path / "c").fit(X)
    assert first.components_.tobytes() == again.components_.tobytes()
