"""Entry point of the ``tvgnn`` command: the list of commands, and what a user sees when one fails."""

import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from types import FrameType
from typing import Annotated, NoReturn

import typer

import tvgnn
from tvgnn.cli.benchmark import benchmark_app
from tvgnn.cli.classify import classify
from tvgnn.cli.cluster import cluster
from tvgnn.cli.datasets import datasets_app
from tvgnn.cli.demo import demo
from tvgnn.cli.export import export
from tvgnn.cli.report import report
from tvgnn.cli.reproduce import reproduce
from tvgnn.cli.sweep import sweep
from tvgnn.cli.wording import as_option
from tvgnn.errors import TVGNNError
from tvgnn.wording import worded_by

__all__ = ["app", "main"]

USER_ERROR = 2
INTERRUPTED = 128 + signal.SIGINT

# typer's public names hold the leaves of its usage errors, not their base
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="tvgnn",
    help="Sharp, balanced clustering of attributed graphs with Total Variation Graph Neural Networks.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tvgnn {tvgnn.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(cluster)
app.command()(sweep)
app.command()(classify)
app.command()(demo)
app.command()(report)
app.command()(export)
app.command()(reproduce)
app.add_typer(datasets_app, name="datasets")
app.add_typer(benchmark_app, name="benchmark")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows ``tvgnn``. Default: those of the process.

    Returns
    -------
    int
        0, 2 for an error of tvgnn, a ValueError, an OSError or too little memory (one line on standard error: nearly
        always a mistake of the user, whoever noticed it), 130 after Ctrl-C. Any other exception is a defect of tvgnn
        and leaves a traceback.

    Examples
    --------
    >>> main(["--version"])  # doctest: +ELLIPSIS
    tvgnn ...
    0
    """
    # OpenMP, loaded with torch, reads this once. By default idle threads spin between parallel regions, and where
    # another process wants the core the whole run waits for them: 360 against 34 ms an epoch on the digits, measured.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # As an exception SIGTERM, which batch systems send, removes the half-written run folder on its way out.
    # So does SIGHUP, which a closed terminal sends, unless nohup said to ignore it.
    ends = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    previous = {end: signal.signal(end, _terminate) for end in ends if signal.getsignal(end) != signal.SIG_IGN}
    try:
        with _open_streams(), worded_by(as_option):
            return app(args=arguments, prog_name="tvgnn", standalone_mode=False) or 0
    except _UsageError as error:
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context else ""
        return _fail(f"{error.format_message()}{hint}")  # type: ignore[attr-defined]  # typer does not type it
    except (TVGNNError, ValueError, OSError) as error:
        return _fail(str(error))
    except MemoryError as error:
        return _fail(f"out of memory: {error}; use smaller widths or, with the presets paper and quick, --memory low")
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except RuntimeError as error:
        code = _interruption(error)
        if code is None:
            raise
        return code
    finally:
        for end, handler in previous.items():
            signal.signal(end, handler)


@contextmanager
def _open_streams() -> Iterator[None]:
    """Let a closed standard output or error, which Python gives as None, take what is printed; it is lost."""
    with ExitStack() as stack:
        if sys.stdout is None:
            stack.enter_context(redirect_stdout(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
        if sys.stderr is None:
            stack.enter_context(redirect_stderr(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
        yield


def _interruption(error: BaseException) -> int | None:
    """Exit code of an interruption that Python wrapped, as it does while a class is made during an import."""
    cause = error.__cause__
    if isinstance(cause, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(cause, SystemExit) and isinstance(cause.code, int):
        return cause.code
    return None if cause is None else _interruption(cause)


def _fail(message: str) -> int:
    line = re.sub(r"\s*\n\s*", " ", message.strip())
    if sys.stderr is not None:  # print would take standard output for it
        print(f"error: {line}", file=sys.stderr)
    return USER_ERROR


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
