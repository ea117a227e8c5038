"""The command: its parts, and the only place where errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer
from typer.main import get_command

from pixie_otel.cli.console import Console
from pixie_otel.cli.convert import convert_command
from pixie_otel.cli.doctor import doctor_command
from pixie_otel.cli.eval import EvalCommand, eval_command
from pixie_otel.cli.evaluators import evaluators_command
from pixie_otel.cli.exit_codes import exit_code_of
from pixie_otel.cli.help import HelpfulCommand, HelpfulGroup
from pixie_otel.cli.record import record_command
from pixie_otel.cli.scan import scan_command
from pixie_otel.cli.show import show_command
from pixie_otel.errors import PixieError

__all__ = ["app", "main"]

# Markup would be drawn with rich, which takes longer to load than everything else that help needs.
app = typer.Typer(cls=HelpfulGroup, rich_markup_mode=None, pretty_exceptions_enable=False, no_args_is_help=True)
app.command("eval", short_help="Judge traces, or finished cases.", cls=EvalCommand)(eval_command)
app.command("show", short_help="Print traces as trees.", cls=HelpfulCommand)(show_command)
app.command("doctor", short_help="Say what is wrong with traces, and why.", cls=HelpfulCommand)(doctor_command)
app.command("convert", short_help="Write traces of any form as clean OTLP JSON.", cls=HelpfulCommand)(convert_command)
app.command("scan", short_help="Find credentials in trace files.", cls=HelpfulCommand)(scan_command)
app.command("evaluators", short_help="List what can judge.", cls=HelpfulCommand)(evaluators_command)
app.command(
    "record",
    short_help="Write down what an application sends by OTLP.",
    cls=HelpfulCommand,
    # What follows the program's name is the program's.
    context_settings={"allow_interspersed_args": False},
)(record_command)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        argv: What follows the command's name; what the process was started with, when not given.

    Returns:
        The exit code, see `pixie_otel.cli.exit_codes`.
    """
    code = 0
    try:
        get_command(app).main(None if argv is None else list(argv), prog_name="pixie-otel")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else code
    except PixieError as error:
        Console().say(f"Error: {error}")
        code = exit_code_of(error)
    except Exception as error:  # noqa: BLE001 - what nobody foresaw still ends in a message, and not in a traceback
        _admit_bug(error, sys.argv[1:] if argv is None else argv)
        code = exit_code_of(error)
    return code


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"pixie-otel {version('pixie-otel')}")
        raise typer.Exit


@app.callback()
def _about(  # pyright: ignore[reportUnusedFunction] - Typer calls it
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Evaluate LLM applications from their OpenTelemetry traces, offline.

    \b
    Start here:
      pixie-otel eval traces.jsonl       judge every trace, and say what is wrong
      pixie-otel show traces.jsonl       look at the traces
      pixie-otel doctor traces.jsonl     see what is missing in them, and why
      pixie-otel evaluators              see what else can judge

    'pixie-otel COMMAND --help' tells all about a command.
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks


def _admit_bug(error: Exception, arguments: Sequence[str]) -> None:
    console = Console()
    console.say(
        f"Error: {type(error).__name__}: {error}\n"
        "This is a bug in pixie-otel. Please report it, with the traceback that "
        "-v, or PIXIE_OTEL_DEBUG=1 in the environment, shows."
    )
    if os.environ.get("PIXIE_OTEL_DEBUG") or {"-v", "--verbose"} & set(arguments):
        from traceback import format_exception

        console.say("".join(format_exception(error)))
