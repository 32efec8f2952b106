"""Output of a command: results to stdout, progress to stderr, as text or JSON."""

from __future__ import annotations

import functools
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar

import click

from rcweb.cli import interrupt

F = TypeVar("F", bound=Callable[..., Any])

_FIRST_SIGN = 2.0  # seconds until a long step shows progress
_EVERY = 10.0  # and how often when nobody watches a terminal


@dataclass(frozen=True)
class Console:
    """How much to print, and in which form."""

    as_json: bool = False
    quiet: bool = False
    verbose: bool = False

    def say(self, text: str) -> None:
        """Print a line of progress on stderr; nothing with --quiet."""
        if not self.quiet:
            sys.stderr.write(text + "\n")
            sys.stderr.flush()

    def result(self, summary: Mapping[str, Any], text: str) -> None:
        """Print the result on stdout: `summary` with --json, else `text`."""
        if self.as_json:
            from rcweb.storage.plain import plain

            click.echo(json.dumps(plain(dict(summary)), allow_nan=False))
        elif not self.quiet:
            click.echo(text)

    @contextmanager
    def step(self, what: str) -> Iterator[None]:
        """Show progress of a step that takes longer than two seconds."""
        # A Ctrl-C that a library swallowed takes effect at the next step.
        interrupt.check()
        start = time.monotonic()
        done = threading.Event()
        # A daemon thread: the watcher must not keep the process alive after an error.
        watcher = threading.Thread(target=_watch, args=(what, start, done, sys.stderr), daemon=True)
        if not self.quiet:
            watcher.start()
        try:
            yield
        finally:
            done.set()
            if not self.quiet:
                watcher.join()
        seconds = time.monotonic() - start
        if seconds > _FIRST_SIGN or self.verbose:
            self.say(f"{what}: {seconds:.1f} s")

    @contextmanager
    def interruptible(self, advice: Callable[[], str]) -> Iterator[None]:
        """On Ctrl-C print what is kept and how to resume, then exit with code 130."""
        try:
            yield
        except KeyboardInterrupt:
            sys.stderr.write(f"\nrcweb: interrupted. {advice()}\n")
            raise click.exceptions.Exit(interrupt.INTERRUPTED) from None


def _watch(what: str, start: float, done: threading.Event, stream: TextIO) -> None:
    """On a terminal one line that counts seconds; elsewhere a new line every ten seconds."""
    terminal = stream.isatty()
    wait = _FIRST_SIGN
    # Ends when the step does, since `done` is set in every case.
    while not done.wait(wait):
        seconds = time.monotonic() - start
        stream.write(
            f"\r{what} ... {seconds:.0f} s " if terminal else f"{what} ... {seconds:.0f} s\n"
        )
        stream.flush()
        wait = 1.0 if terminal else _EVERY
    if terminal and time.monotonic() - start > _FIRST_SIGN:
        # Clear the counting line; the summary of the step follows.
        stream.write("\r\033[K")
        stream.flush()


def with_console(function: F) -> F:
    """Add --json, --quiet and --verbose, and hand the command a `Console`."""

    @click.option("--json", "as_json", is_flag=True, help="Print a machine-readable summary.")
    @click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
    @click.option("-v", "--verbose", is_flag=True, help="Print more, and tracebacks.")
    @functools.wraps(function)
    def wrapped(*args: Any, as_json: bool, quiet: bool, verbose: bool, **kwargs: Any) -> Any:
        return function(*args, console=Console(as_json, quiet, verbose), **kwargs)

    return wrapped  # type: ignore[return-value]
