"""A process that measures: one JSON task a line on standard input, one JSON row a line back.

A process of its own can be stopped when a method takes too long, and starts with the number of
threads it is told, before any library reads it. The limit is in seconds of CPU, so that other work
on the machine does not decide who finishes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import CancelledError, Executor, Future
from dataclasses import asdict
from functools import cache
from typing import Any

from rcweb.lab.benchmark.plans import Task

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# Imports and compilation of all kernels of a method, once per process.
WARM_UP_SECONDS = 300.0
# By the clock a fit may take this many times its limit: for one that waits without using the
# processor, and where the system has no timer of CPU time.
CLOCK_FACTOR = 10.0
# Characters of an error that a row keeps: enough for one that lists all methods.
LONGEST_ERROR = 1000


# What ends a process at its limit; 0, which ends none, where there is no such timer (Windows).
_LIMIT_SIGNAL = int(getattr(signal, "SIGPROF", 0))


class Worker:
    """The parent's side: starts the process, sends tasks, tells a limit from a crash."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._process: subprocess.Popen[str] | None = None
        self._warm: set[str] = set()

    def run(self, task: Task) -> dict[str, Any]:
        """The row of one task: its scores, or the status "failed" or "timeout"."""
        # Compilation must not be part of the time measured.
        if task.method not in self._warm:
            row = self._ask(_warm_up_message(task), WARM_UP_SECONDS)
            if row["status"] != "ok":
                return row
            self._warm.add(task.method)
        return self._ask(_message(task), task.timeout)

    def kill(self) -> None:
        """Stop the process; a call of `run` under way returns a row that says it died."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End the process and forget it."""
        self.kill()
        if self._process is not None:
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
        self._process = None
        self._warm = set()

    def _ask(self, message: dict[str, Any], timeout: float) -> dict[str, Any]:
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        # Tells a kill by the clock from a crash; both leave an empty answer.
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        # Every thread of the fit uses the processor.
        limit = timeout * self.threads
        alarm = threading.Timer(CLOCK_FACTOR * timeout, stop)
        alarm.start()
        try:
            process.stdin.write(json.dumps({**message, "limit": limit}) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = ""
        finally:
            alarm.cancel()
        # An empty answer means that the pipe closed: the process ended.
        if answer:
            return dict(json.loads(answer))
        self.close()
        if late.is_set() or process.returncode == -_LIMIT_SIGNAL:
            error = f"not done after {limit:g} s of CPU"
            return {"status": "timeout", "error": error, "cpu_limit": limit}
        return {"status": "failed", "error": "the process died (out of memory?)"}

    def _start(self) -> subprocess.Popen[str]:
        threads = dict.fromkeys(THREAD_VARIABLES, str(self.threads))
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from rcweb.lab.benchmark.worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads},
        )
        return self._process


class Remote:
    """A slot of an executor, such as a dask cluster, instead of a local process. A fit that
    exceeds the time limit cannot be stopped there."""

    def __init__(self, executor: Executor, threads: int) -> None:
        self.threads = threads
        self._executor = executor
        self._future: Future[dict[str, Any]] | None = None

    def run(self, task: Task) -> dict[str, Any]:
        """The row of one task."""
        self._future = self._executor.submit(answer_there, _message(task), self.threads)
        try:
            return self._future.result()
        except (CancelledError, OSError) as error:
            return {"status": "failed", "error": f"the executor: {error!r}"[:LONGEST_ERROR]}

    def kill(self) -> None:
        """Do not begin what has not begun."""
        if self._future is not None:
            self._future.cancel()

    close = kill


def _message(task: Task) -> dict[str, Any]:
    return {
        "kind": type(task.cell).__name__,
        "cell": asdict(task.cell),
        "method": task.method,
        "seed": task.seed,
    }


def _warm_up_message(task: Task) -> dict[str, Any]:
    return {"kind": type(task.cell).__name__, "warm_up": task.method}


class Crew:
    """The workers of one run, so that all can be stopped at once; at an `executor` if given."""

    def __init__(self, executor: Executor | None = None) -> None:
        self.dismissed = False
        self._executor = executor
        self._workers: list[Worker | Remote] = []

    def hire(self, threads: int) -> Worker | Remote:
        """A new worker."""
        worker = Worker(threads) if self._executor is None else Remote(self._executor, threads)
        self._workers.append(worker)
        return worker

    def dismiss(self) -> None:
        """Stop whatever is still running."""
        self.dismissed = True
        for worker in self._workers:
            worker.kill()


def answer(message: dict[str, Any]) -> dict[str, Any]:
    """The child's side: run the task of a message; an error becomes a row with status "failed"."""
    from rcweb.lab.benchmark.foreign import ForeignCell, measure_foreign
    from rcweb.lab.benchmark.measure import measure, warm_up
    from rcweb.lab.benchmark.organisms import OrganismCell, measure_organism
    from rcweb.lab.benchmark.prior import PriorCell, measure_prior
    from rcweb.lab.benchmark.prior_methods import warm_up_lists
    from rcweb.lab.benchmark.prior_planted import PlantedPriorCell, measure_planted_prior
    from rcweb.lab.benchmark.random_worlds import RandomCell
    from rcweb.lab.benchmark.scale import ScaleCell, measure_scale
    from rcweb.lab.benchmark.scenarios import Cell
    from rcweb.lab.benchmark.sensitivity import SensitivityCell, measure_sensitivity

    try:
        if "warm_up" in message:
            lists = message.get("kind") in ("PriorCell", "PlantedPriorCell")
            (warm_up_lists if lists else warm_up)(message["warm_up"])
            return {"status": "ok"}
        what, method, seed = message["cell"], message["method"], message["seed"]
        if message["kind"] == "OrganismCell":
            row = measure_organism(OrganismCell(**what), method, seed)
        elif message["kind"] == "ForeignCell":
            row = measure_foreign(ForeignCell(**what), method, seed)
        elif message["kind"] == "RandomCell":
            row = measure_foreign(RandomCell(**what), method, seed)
        elif message["kind"] == "PriorCell":
            row = measure_prior(PriorCell(**what), method, seed)
        elif message["kind"] == "PlantedPriorCell":
            row = measure_planted_prior(PlantedPriorCell(**what), method, seed)
        elif message["kind"] == "SensitivityCell":
            row = measure_sensitivity(SensitivityCell(**what), method, seed)
        elif message["kind"] == "ScaleCell":
            row = measure_scale(ScaleCell(**what), method, seed)
        else:
            row = measure(Cell(**what), method, seed)
        return {"status": "ok", **row}
    except Exception as error:
        return {"status": "failed", "error": f"{type(error).__name__}: {error}"[:LONGEST_ERROR]}


def answer_there(message: dict[str, Any], threads: int) -> dict[str, Any]:
    """`answer` in a process of someone else, compiled and with `threads` of BLAS."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        _warm(message["kind"], message["method"])
        return answer(message)


@cache
def _warm(kind: str, method: str) -> None:
    answer({"kind": kind, "warm_up": method})


def main() -> None:
    """Answer until standard input ends; what methods print must not reach the answers."""
    # Ctrl-C reaches the whole group of processes; the near end decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Methods print; only answers may reach the pipe.
    replies = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        message = json.loads(line)
        _limit(message.pop("limit", 0.0))
        row = answer(message)
        _limit(0.0)
        try:
            print(json.dumps(row), file=replies, flush=True)
        except BrokenPipeError:
            # The near end was killed: nobody is left to tell, not even at exit.
            os._exit(1)


def _limit(seconds: float) -> None:
    """From now on so many seconds of CPU, of all threads, end this process; 0: no limit.

    The signal keeps its default action, which also ends a fit inside of compiled code.
    """
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
