"""Results that cannot be written, or whose writer is killed: the old ones stay or new are whole.

Disks are filled in two ways: by a limit on the size of files, which works everywhere, and by a
small file system in memory, where the tests may mount one.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")

from rcweb.cli.app import run
from rcweb.estimator import load_model
from rcweb.lab.simulate import simulate

OPTIONS = ("--method", "paper", "--components", "4")
CLI = "import sys; from rcweb.cli.app import run; sys.exit(run(sys.argv[1:]))"
# The size of any file is limited, after all imports: a disk that is full in the middle of a file.
LIMITED = """
import resource, signal, sys
import rcweb.estimator, rcweb.engine.paper.solve, rcweb.engine.refined, rcweb.report, rcweb.tables
from rcweb.cli.app import run
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, not a signal
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.exit(run(sys.argv[2:]))
"""
needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("writes") / "t.npy"
    np.save(path, simulate(300, 200, 4, noise=0.05, random_state=0).data)
    return path


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def check_sentence(done: subprocess.CompletedProcess[str], *words: str) -> None:
    assert done.returncode == 3, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("rcweb: ")
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in last


def fit_to_full(data: Path, out: Path, limit: int, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LIMITED, str(limit), "fit", str(data), "-o", str(out)]
    return subprocess.run([*command, *OPTIONS, *more], capture_output=True, text=True, check=False)


@needs_linux
@pytest.mark.parametrize("limit", [1_000, pytest.param(20_000, marks=pytest.mark.slow), 60_000])
def test_a_disk_that_is_full_keeps_the_old_result(data, tmp_path, limit):
    """Full at the first file, or at a later one: an error in one sentence, no litter."""
    out = tmp_path / "out"
    assert run(["fit", str(data), "-o", str(out), *OPTIONS, "-q"]) == 0
    before = content(out)
    assert max(map(len, before.values())) > limit
    check_sentence(fit_to_full(data, out, limit, "--seed", "1"), "File too large")
    assert content(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@needs_linux
def test_a_disk_that_is_full_at_the_first_run_leaves_nothing(data, tmp_path):
    """No folder that looks like a result."""
    check_sentence(fit_to_full(data, tmp_path / "out", 20_000), "File too large")
    assert list(tmp_path.iterdir()) == []


@needs_linux
def test_a_disk_too_full_for_a_checkpoint_keeps_the_one_before(data, tmp_path):
    """The fit ends with the reason; what was saved is still good to go on from."""
    options = ["--components", "4", "--quality", "high"]
    checkpoint = tmp_path / "c"
    command = [sys.executable, "-c", LIMITED, "700", "fit", str(data), "-o", str(tmp_path / "out")]
    command += [*options, "--checkpoint", str(checkpoint)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check_sentence(done, "File too large")
    assert list(checkpoint.iterdir()) == []
    arguments = ["fit", str(data), "-o", str(tmp_path / "out"), *options, "-q"]
    assert run([*arguments, "--checkpoint", str(checkpoint)]) == 0
    assert not checkpoint.exists()


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """One megabyte, of which a part is taken."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = shutil.which("mount")
    command = [str(mount), "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if mount is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_small_disk_keeps_the_old_result(data, small_disk):
    """A real "no space left on device": the second result does not fit beside the first."""
    out = small_disk / "out"
    assert run(["fit", str(data), "-o", str(out), *OPTIONS, "-q"]) == 0
    before = content(out)
    free = shutil.disk_usage(small_disk).free
    (small_disk / "ballast").write_bytes(bytes(max(0, free - 50_000)))
    command = [sys.executable, "-c", CLI, "fit", str(data), "-o", str(out), *OPTIONS, "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check_sentence(done, "No space left on device")
    assert content(out) == before
    assert {path.name for path in small_disk.iterdir()} == {"out", "ballast"}
    (small_disk / "ballast").unlink()
    assert run(["fit", str(data), "-o", str(out), *OPTIONS, "-q"]) == 0


@needs_linux
@pytest.mark.parametrize("times", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_a_killed_command_leaves_a_whole_result(data, tmp_path, times):
    """Killed at moments around the writing: all files are of one run, the one before or this."""
    out = tmp_path / "out"
    commands, results = [], []
    for fdr in ("0.05", "0.2"):
        arguments = ["fit", str(data), "-o", str(out), *OPTIONS, "--fdr", fdr]
        commands.append([sys.executable, "-c", CLI, *arguments])
        start = time.monotonic()
        subprocess.run(commands[-1], capture_output=True, check=True)
        seconds = time.monotonic() - start
        results.append({k: v for k, v in content(out).items() if k != "provenance.json"})
    assert results[0]["model.rcweb"] != results[1]["model.rcweb"]
    rng = np.random.default_rng(int(os.environ.get("RCWEB_SEED", 0)))
    n_killed = 0
    for k in range(10 * times):
        process = subprocess.Popen(
            commands[k % 2], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(seconds * rng.uniform(0.6, 0.95))
        process.send_signal(signal.SIGKILL)
        if process.wait() == -signal.SIGKILL:
            n_killed += 1
        else:
            seconds *= 0.9  # measured while the machine was busier: it was over before
        found = content(out)
        json.loads(found.pop("provenance.json"))
        assert found in results
        load_model(out / "model.rcweb")
        if n_killed == times:
            break
    assert n_killed == times


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(data, tmp_path, capsys):
    """Said with the name of the folder."""
    (tmp_path / "closed").mkdir(mode=0o500)
    assert run(["fit", str(data), "-o", str(tmp_path / "closed" / "out"), *OPTIONS, "-q"]) == 3
    assert "Permission denied" in capsys.readouterr().err
