"""A scheduler and workers as separate processes on this machine, and a step that waits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START_SECONDS = 600.0


@dataclass(frozen=True)
class Cluster:
    """address of the scheduler; processes of the workers."""

    address: str
    workers: tuple[subprocess.Popen[bytes], ...]


@contextmanager
def cluster(folder: Path, n_workers: int = 2) -> Iterator[Cluster]:
    """Start `dask scheduler` and `dask worker` as on different machines; stop them afterwards."""
    file = folder / "scheduler.json"
    common = ["--scheduler-file", str(file)]
    here = ["--host", "127.0.0.1"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # Tests pickle functions of these folders.
    paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    quiet |= {"env": {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}}
    dask = [sys.executable, "-m", "dask"]
    processes = [
        subprocess.Popen(
            [*dask, "scheduler", *common, *here, "--port", "0", "--no-dashboard"], **quiet
        )
    ]
    try:
        _wait(file)
        for k in range(n_workers):
            room = ["--local-directory", str(folder / f"worker{k}"), "--memory-limit", "2GB"]
            options = [*common, *here, *room, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            processes.append(subprocess.Popen([*dask, "worker", *options], **quiet))
        import json

        address = json.loads(file.read_text())["address"]
        yield Cluster(address, tuple(processes[1:]))
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _wait(file: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while not (file.exists() and file.read_text().endswith("}")):
        if time.monotonic() > end:
            raise TimeoutError(f"no scheduler after {START_SECONDS} s")
        time.sleep(0.05)


def record(block: Any, folder: str) -> Any:
    """The chunk as it is, after a mark of the process that read it. From the fifth mark on chunks
    wait until ``folder/killed`` exists: whoever is to be killed is killed in the middle."""
    Path(folder, f"{os.getpid()}-{time.monotonic_ns()}.mark").touch()
    while len(list(Path(folder).glob("*.mark"))) >= 5 and not Path(folder, "killed").exists():
        time.sleep(0.01)
    return block
