"""Run a plan: what is not measured yet, row by row, then tables and figures."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from rcweb.lab.benchmark.plans import Task, get_plan, tasks_of
from rcweb.lab.benchmark.progress import Progress
from rcweb.lab.benchmark.store import Store, environment
from rcweb.lab.benchmark.worker import Crew, Remote, Worker
from rcweb.lab.datasets.files import required_data_folder

ROWS = "rows.jsonl"

Measured = tuple[Task, dict[str, Any], float]
Results = SimpleQueue[Measured | Exception | None]


def run(
    plan: str,
    *,
    quick: bool = False,
    methods: Sequence[str] | None = None,
    seeds: int | Sequence[int] | None = None,
    out: str | Path | None = None,
    n_jobs: int = 1,
    executor: Executor | None = None,
    retry: bool = False,
) -> Path:
    """Measure what `plan` asks for and has not been measured yet; returns the results' folder.

    plan : one of `PLANS`
    quick : a few small cells, one seed, fast methods: within two minutes
    methods, seeds : replace those of the plan; `seeds` is their number or a list
    out : folder of the results, ``benchmarks/results/<plan>`` (with ``-quick``) by default
    n_jobs : fits at the same time; keep 1 when seconds matter
    executor : where to fit instead of in processes of this machine, such as
        ``client.get_executor()`` of a dask cluster; `n_jobs` is then the number of its workers
    retry : measure again what failed or ran out of time

    The folder holds ``rows.jsonl`` (one line per fit), ``summary.csv``, ``summary.md`` and, with
    matplotlib, the figures. A finished plan is not run again: delete the folder to start again.

    Examples
    --------
    ::

        from rcweb.lab.benchmark import read_rows, run, summarise

        folder = run("fig1", quick=True, methods=["rcweb", "fastica", "oracle"])
        summarise(read_rows(folder / "rows.jsonl"))
    """
    blocks = get_plan(plan)
    if plan in ("organisms", "prior"):
        required_data_folder()
    folder = Path(out) if out is not None else _default_folder(plan, quick)
    store = Store(folder / ROWS)
    _check_ours(folder, store)
    # A plan resumes: what has a row is not measured again.
    finished = store.finished(retry)
    tasks = [
        task
        for task in tasks_of(blocks, quick=quick, methods=methods, seeds=seeds)
        if task.key not in finished
    ]
    if tasks:
        _measure(tasks, store, max(1, n_jobs), Crew(executor))
    else:
        print(f"{plan}: everything is measured already, in {folder}", file=sys.stderr)
    from rcweb.lab.benchmark.outputs import write_outputs

    write_outputs(plan, folder)
    return folder


def _check_ours(folder: Path, store: Store) -> None:
    """Refuse a folder with other files: tables and figures could replace some of them."""
    if not store.rows and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(
            f"{folder} holds no rows of earlier measurements and is not empty; name a new folder."
        )


def _default_folder(plan: str, quick: bool) -> Path:
    return Path("benchmarks") / "results" / (f"{plan}-quick" if quick else plan)


def _measure(tasks: list[Task], store: Store, n_jobs: int, crew: Crew) -> None:
    """Groups of tasks that share their data go to one process each; rows come back here."""
    facts = environment()
    store.append(facts)
    progress = Progress((t.method for t in tasks), n_jobs)
    results: Results = SimpleQueue()
    groups = _groups(tasks, n_jobs)
    with ThreadPoolExecutor(n_jobs) as pool:
        for group in groups:
            pool.submit(_work, group, results, crew)
        try:
            for task, row, seconds in _drain(results, len(groups)):
                store.describe(task.cell.key, {"label": task.cell.label, **asdict(task.cell)})
                store.append({**_key(task), **row, "environment": facts["environment"]})
                text = f"{task.cell.label}  {task.method}  {row['status']}"
                progress.done(task.method, seconds, text)
        finally:
            # After an interruption the pool would otherwise wait for fits nobody wants.
            crew.dismiss()


def _groups(tasks: list[Task], n_jobs: int) -> list[list[Task]]:
    """One list per process: whole (threads, cell, seed) groups, dealt out in turn."""
    shared = [list(g) for _, g in groupby(tasks, key=lambda t: (t.threads, t.cell.key, t.seed))]
    dealt = [[t for group in shared[i::n_jobs] for t in group] for i in range(n_jobs)]
    return [group for group in dealt if group]


def _work(tasks: list[Task], results: Results, crew: Crew) -> None:
    worker: Worker | Remote | None = None
    try:
        for task in tasks:
            # Libraries read the number of threads once, when a process starts.
            if worker is None or worker.threads != task.threads:
                if worker is not None:
                    worker.close()
                worker = crew.hire(task.threads)
            start = time.monotonic()
            row = worker.run(task)
            # The row of a killed fit is no measurement.
            if crew.dismissed:
                return
            results.put((task, row, time.monotonic() - start))
        results.put(None)
    except Exception as error:
        results.put(error)
    finally:
        if worker is not None:
            worker.close()


def _drain(results: Results, n_workers: int) -> Iterator[Measured]:
    # Ends: every worker sends None or an error as its last message; after an interruption the
    # caller leaves the loop.
    while n_workers:
        item = results.get()
        if item is None:
            n_workers -= 1
        elif isinstance(item, Exception):
            raise item
        else:
            yield item


def _key(task: Task) -> dict[str, Any]:
    return dict(zip(("cell", "method", "seed", "threads"), task.key))
