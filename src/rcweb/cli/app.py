"""The group of commands; errors become messages and exit codes."""

from __future__ import annotations

import sys
import traceback
import warnings

import click

from rcweb.cli import interrupt
from rcweb.cli.annotate import annotate
from rcweb.cli.associate import associate
from rcweb.cli.bench import bench
from rcweb.cli.compare import compare
from rcweb.cli.contrast import contrast
from rcweb.cli.demo import demo
from rcweb.cli.explain import explain
from rcweb.cli.fit import fit
from rcweb.cli.interrupt import INTERRUPTED
from rcweb.cli.simulate import simulate
from rcweb.cli.transform import transform
from rcweb.storage.version import __version__

OK, BUG, USAGE, INPUT, MISSING_PACKAGE = 0, 1, 2, 3, 4

EPILOG = """\b
Exit codes: 0 done, 1 a bug in rcweb, 2 wrong usage, 3 the input cannot be used,
4 a package is missing, 130 interrupted. Results go to stdout, progress to stderr.
"""


@click.group(
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="rcweb")
def group() -> None:
    """Hidden regulators of a table of measurements, and the sparse network from them to it.

    \b
    Start here:
      rcweb demo                            a real organism, in two minutes
      rcweb fit expression.csv -o results   your own table
    """


COMMANDS = (
    fit,
    transform,
    annotate,
    explain,
    contrast,
    associate,
    compare,
    simulate,
    bench,
    demo,
)
for command in COMMANDS:
    group.add_command(command)


def run(arguments: list[str]) -> int:
    """Run a command line; errors become one line on stderr and an exit code."""
    verbose = "--verbose" in arguments or "-v" in arguments
    if not verbose:  # warnings of libraries address developers
        warnings.simplefilter("ignore")
    try:
        result = group.main(arguments, prog_name="rcweb", standalone_mode=False)
        code = result if isinstance(result, int) else OK
        # A library swallowed the Ctrl-C; the exit code must still tell a script.
        if code == OK and interrupt.seen():
            return _fail("interrupted, after the work was done.", INTERRUPTED)
        return code
    except click.UsageError as error:
        error.show()
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted.", INTERRUPTED)
    except click.ClickException as error:
        return _fail(error.format_message(), INPUT)
    except Exception as error:
        if verbose:
            traceback.print_exc()
        # Some libraries turn Ctrl-C into another error; see `rcweb.cli.interrupt`.
        if interrupt.seen():
            return _fail("interrupted.", INTERRUPTED)
        return _explain(error)


def _explain(error: Exception) -> int:
    """Errors that a user can act on get their own message; all others are reported as a bug."""
    if isinstance(error, ImportError):
        return _fail(str(error), MISSING_PACKAGE)
    if isinstance(error, MemoryError):
        known = str(error) if _is_expected(error) else "not enough memory for this table."
        return _fail(known, INPUT)
    # Full disks and missing permissions are not bugs of rcweb.
    if isinstance(error, OSError):
        return _fail(f"{error.filename or ''}: {error.strerror or error}".lstrip(": "), INPUT)
    if isinstance(error, (ValueError, TypeError)) or _is_expected(error):
        return _fail(str(error), INPUT)
    return _fail(
        f"a bug in rcweb: {type(error).__name__}: {error} (please report it, with --verbose)",
        BUG,
    )


def _is_expected(error: Exception) -> bool:
    """Errors of our own that are not ValueErrors, such as `DatasetError`."""
    return type(error).__module__.startswith("rcweb.")


def _fail(message: str, code: int) -> int:
    sys.stderr.write(f"rcweb: {message}\n")
    return code
