"""``pixie-otel evaluators``: what there is to judge with."""

from __future__ import annotations

from pixie_otel.cli import options

__all__ = ["evaluators_command"]


def evaluators_command(as_json: options.Json = False) -> None:
    """List the built-in evaluators: what each judges, needs and costs.

    None of them needs a key, and none sends anything anywhere.

    \b
    Examples:
      pixie-otel evaluators
      pixie-otel evaluators --json
      pixie-otel eval traces.jsonl -e ... -e MaxLatency:seconds=5
      pixie-otel eval traces.jsonl -e NoRepeatedToolCalls:limit=5,severity=fail
    """  # noqa: D301 - Typer rewraps every paragraph, but for one that a real \b marks
    from pixie_otel.cli.console import Console
    from pixie_otel.evals.registry import BUILTINS
    from pixie_otel.reports.evaluator_lines import evaluator_lines, evaluators_json

    console = Console()
    infos = BUILTINS.values()
    console.write([evaluators_json(infos)] if as_json else evaluator_lines(infos, console.width, console.style))
