"""The options of the commands: what they are called and what their help says.

Each one tells its default and gives an example. ``None`` is "not given": the project's settings decide then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "AllTraces",
    "AllowErrors",
    "Cases",
    "Concurrency",
    "DropContent",
    "Evaluators",
    "Expect",
    "Explain",
    "FailOn",
    "Force",
    "Full",
    "Json",
    "Kinds",
    "Limit",
    "MaxLineBytes",
    "Names",
    "NoProgress",
    "Out",
    "OutFile",
    "Paths",
    "Pct",
    "Per",
    "Quiet",
    "Sample",
    "Seed",
    "Select",
    "SelectParts",
    "Services",
    "Since",
    "SplitBy",
    "Strict",
    "Thresholds",
    "Timeout",
    "TraceIds",
    "Until",
    "Verbose",
    "Where",
    "Width",
]

_PROBLEMS = "What is wrong"
_JUDGES = "What judges"
_JUDGED = "What is judged"
_TRACES = "Which traces"
_READING = "Reading"
_RESULTS = "Results"


def _evaluator_names(incomplete: str) -> list[str]:
    from pixie_otel.evals.registry import BUILTINS

    return [name for name in BUILTINS if name.lower().startswith(incomplete.lower())]


def _selectors(incomplete: str) -> list[str]:
    from pixie_otel.traces.selector_steps import FIELDS

    known = ("root", "last_llm_call", "llm_calls", *(f"{field}:" for field in FIELDS), "attr:")
    return [selector for selector in known if selector.startswith(incomplete)]


def _option(
    group: str,
    *names: str,
    help: str,
    metavar: str | None = None,
    autocompletion: Callable[[str], list[str]] | None = None,
) -> object:
    return typer.Option(
        *names,
        metavar=metavar,
        help=help,
        autocompletion=autocompletion,
        rich_help_panel=group,
        show_default=False,
    )


Paths: TypeAlias = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATH...",
        show_default=False,
        help="Trace files: OTLP JSON or JSON lines (.jsonl, .json, also .gz and .zst), OTLP protobuf (.pb), what other "
        "tools export, folders of them, globs in quotes, or - for standard input.",
    ),
]
Evaluators: TypeAlias = Annotated[
    list[str] | None,
    _option(
        _JUDGES,
        "-e",
        "--evaluator",
        metavar="REFERENCE",
        autocompletion=_evaluator_names,
        help="What judges: NAME or NAME:key=value,... of 'pixie-otel evaluators', your own file.py:callable, or ... "
        "for the trace checks. Repeatable. Default: ... Example: -e ... -e ExactMatch -e evals/tone.py:polite",
    ),
]
Thresholds: TypeAlias = Annotated[
    list[str] | None,
    _option(
        _JUDGES,
        "--threshold",
        metavar="[NAME=]SCORE",
        help="The score to reach, from 0 to 1: for all evaluators without one of their own, or for one by its name "
        "(NAME=none only measures). Repeatable. Default: 0.5. Example: --threshold 0.7 --threshold ExactMatch=1",
    ),
]
Pct: TypeAlias = Annotated[
    float | None,
    _option(
        _JUDGES,
        "--pct",
        metavar="SHARE",
        help="The share of judged cases that must pass, from 0 to 1. Default: 1. Example: --pct 0.95",
    ),
]
AllowErrors: TypeAlias = Annotated[
    float | None,
    _option(
        _JUDGES,
        "--allow-errors",
        metavar="SHARE",
        help="The share of cases that may have errors, from 0 to 1. Default: 0. Example: --allow-errors 0.02",
    ),
]
Timeout: TypeAlias = Annotated[
    float | None,
    _option(
        _JUDGES,
        "--timeout",
        metavar="SECONDS",
        help="How long one call of your own evaluators may take; 0 for as long as it likes. Default: 60.",
    ),
]
Concurrency: TypeAlias = Annotated[
    int | None,
    _option(
        _JUDGES,
        "--concurrency",
        metavar="N",
        help="How many calls of your own evaluators run at the same time. Default: 16.",
    ),
]
Select: TypeAlias = Annotated[
    str | None,
    _option(
        _JUDGED,
        "--select",
        metavar="SELECTOR",
        autocompletion=_selectors,
        help="What of a trace is judged: root, last_llm_call, llm_calls (each a case), or what has a name:GLOB, "
        "kind:KIND, tool:GLOB, agent:GLOB, wrap:GLOB, model:GLOB, status:error or attr:KEY=VALUE. Several terms must "
        "all hold; ! or not before one is its opposite; first, last or nth(2) before them takes one; under and above "
        "name what lies around; A > B is directly below, A >> B anywhere below. Default: root. Examples: "
        "--select tool:search --select 'last kind:llm !name:*summary* under agent:planner'",
    ),
]
Per: TypeAlias = Annotated[
    str | None,
    _option(
        _JUDGED,
        "--per",
        metavar="trace|conversation",
        help="What a case is made of: a trace, or all traces of a session as one, and those without a session where "
        "one goes on with the messages and the answer of the other. Default: trace. Example: --per conversation",
    ),
]
Explain: TypeAlias = Annotated[
    bool | None,
    _option(
        _JUDGED,
        "--explain/--no-explain",
        help="Say for traces in which the selector matches nothing which part of it left nothing, and what is there "
        "instead.",
    ),
]
Expect: TypeAlias = Annotated[
    str | None,
    _option(
        _JUDGED,
        "--expect",
        metavar="FILE",
        help="What good outputs are: rows with a trace_id or an input, and an expectation; JSON lines, JSON or CSV. "
        "Default: none. Example: --expect expected.csv",
    ),
]
Cases: TypeAlias = Annotated[
    str | None,
    _option(
        _JUDGED,
        "--cases",
        metavar="FILE",
        help="Judge finished cases instead of traces: rows with input, output, expectation, context ...; JSON lines, "
        "JSON or CSV. Example: --cases answers.csv -e ExactMatch",
    ),
]
AllTraces: TypeAlias = Annotated[
    bool | None,
    _option(
        _JUDGED,
        "--all/--no-all",
        help="Judge also traces with neither LLM calls nor recorded inputs or outputs, such as health checks. "
        "Default: they are counted apart.",
    ),
]
TraceIds: TypeAlias = Annotated[
    list[str] | None,
    _option(
        _TRACES,
        "--trace",
        metavar="ID",
        help="Traces by id, or by its first 8 digits or more. Repeatable. Example: --trace 4bf92f35",
    ),
]
Services: TypeAlias = Annotated[
    list[str] | None,
    _option(
        _TRACES,
        "--service",
        metavar="NAME",
        help="Traces with spans of a service. Repeatable. Example: --service support-bot",
    ),
]
Since: TypeAlias = Annotated[
    str | None,
    _option(
        _TRACES,
        "--since",
        metavar="WHEN",
        help="Traces that start at a moment (in UTC where it names no zone) or later, or within the last 30m, 2h, 7d. "
        "Example: --since 2026-11-30",
    ),
]
Until: TypeAlias = Annotated[
    str | None,
    _option(_TRACES, "--until", metavar="WHEN", help="Traces that start before a moment. Example: --until 2h"),
]
Where: TypeAlias = Annotated[
    list[str] | None,
    _option(
        _TRACES,
        "--where",
        metavar="CONDITION",
        help="Traces that meet a condition on status, name, kind, model, session, user, duration, tokens, cost or "
        "attr.KEY. Repeatable: all must hold. Examples: --where status=error --where 'name~*search*' "
        "--where 'duration>2s' --where attr.user.plan=pro",
    ),
]
Limit: TypeAlias = Annotated[
    int | None,
    _option(
        _TRACES, "--limit", metavar="N", help="At most so many, the earliest first. Default: all. Example: --limit 100"
    ),
]
Sample: TypeAlias = Annotated[
    float | None,
    _option(
        _TRACES,
        "--sample",
        metavar="RATE",
        help="A share of them, from 0 to 1, chosen by id: the same ones every time. Default: all. "
        "Example: --sample 0.1",
    ),
]
Seed: TypeAlias = Annotated[
    int | None,
    _option(_TRACES, "--seed", metavar="N", help="Another seed takes another sample. Default: 0. Example: --seed 7"),
]
Strict: TypeAlias = Annotated[
    bool | None,
    _option(
        _READING,
        "--strict/--no-strict",
        help="End with exit code 3 at the first thing that is wrong with a file. Default: it is reported, and reading "
        "goes on.",
    ),
]
MaxLineBytes: TypeAlias = Annotated[
    int | None,
    _option(
        _READING,
        "--max-line-bytes",
        metavar="N",
        help="Skip and report longer lines. Default: 67108864 (64 MiB). Example: --max-line-bytes 1000000",
    ),
]
Names: TypeAlias = Annotated[
    bool,
    _option(
        _READING,
        "--names/--no-names",
        help="Also find what stands under the name of a credential, such as password or api_key, whatever it looks "
        "like. Default: --names.",
    ),
]
Out: TypeAlias = Annotated[
    str | None,
    _option(
        _RESULTS,
        "--out",
        metavar="DIR",
        help="Where the run's own folder is made. Default: pixie-runs. Example: --out /tmp/runs",
    ),
]
FailOn: TypeAlias = Annotated[
    list[str] | None,
    _option(
        _PROBLEMS,
        "--fail-on",
        metavar="KIND",
        help="End with exit code 1 where a kind of problem is found: its name, or error, warning (errors too), any "
        "(as warning), note (all). Repeatable. Default: none. Example: --fail-on content-off",
    ),
]
Kinds: TypeAlias = Annotated[
    bool, _option(_PROBLEMS, "--kinds", help="List the kinds of problems, with what they mean and what to change.")
]
OutFile: TypeAlias = Annotated[
    str | None,
    _option(
        _RESULTS,
        "-o",
        "--out",
        metavar="FILE",
        help="The file to write, packed where its name ends in .gz; or - for standard output. Example: -o clean.jsonl",
    ),
]
Force: TypeAlias = Annotated[
    bool, _option(_RESULTS, "--force", help="Replace what is there. Default: it is left as it is.")
]
SplitBy: TypeAlias = Annotated[
    str | None,
    _option(
        _RESULTS,
        "--split-by",
        metavar="trace",
        help="Write a file for each trace, named by its id, into the folder that -o names. "
        "Example: -o traces/ --split-by trace",
    ),
]
SelectParts: TypeAlias = Annotated[
    str | None,
    _option(
        _TRACES,
        "--select",
        metavar="SELECTOR",
        autocompletion=_selectors,
        help="Of these, what a selector of 'eval' picks, with all that is below it; it becomes a root. Default: the "
        "whole trace. Example: --select 'tool:search*'",
    ),
]
DropContent: TypeAlias = Annotated[
    bool,
    _option(
        _RESULTS,
        "--drop-content",
        help="Leave out what people and models said: messages, inputs, outputs, documents, messages of errors, "
        "and texts of keys that no convention has. Kinds, names, models, numbers, times and ids stay.",
    ),
]
Json: TypeAlias = Annotated[
    bool, _option(_RESULTS, "--json", help="Write JSON to stdout instead of text. Default: text.")
]
Quiet: TypeAlias = Annotated[bool, _option(_RESULTS, "-q", "--quiet", help="Print the verdict alone.")]
Verbose: TypeAlias = Annotated[
    bool,
    _option(_RESULTS, "-v", "--verbose", help="Print every case with every evaluator's outcome, and all details."),
]
NoProgress: TypeAlias = Annotated[
    bool,
    _option(_RESULTS, "--no-progress", help="Show no progress. Default: it shows where stderr is a terminal."),
]
Width: TypeAlias = Annotated[
    int | None,
    _option(_RESULTS, "--width", metavar="N", help="Cut lines to so many columns. Default: the terminal's width."),
]
Full: TypeAlias = Annotated[
    bool,
    _option(_RESULTS, "--full", help="Cut nothing of inputs, outputs and messages. Default: cut to fit."),
]
