"""Settings that a project keeps: ``[tool.pixie-otel]`` of the nearest ``pyproject.toml``.

They have the names of the options of ``pixie-otel eval`` and of the arguments of ``init``, written with ``-`` or ``_``;
an option that can be repeated is a list, and its name may then stand in the plural. Paths are relative to the file's
folder, whatever the current directory is. What is typed on the command line, given to ``init`` or set in the
environment goes before what stands here.

    [tool.pixie-otel]
    evaluators = ["...", "ExactMatch", "evals/tone.py:Polite"]
    threshold = 0.7
    thresholds = { ExactMatch = 1.0 }
    allow-errors = 0.05
    file = "traces/"
    service-name = "support-bot"
"""

from __future__ import annotations

import difflib
import os
import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, TypeAlias, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from pixie_otel.errors import ConfigError

__all__ = ["PixieConfig", "get_config"]

_TABLE: Final = "pixie-otel"
_PLURALS: Final = {"evaluator": "evaluators", "services": "service", "traces": "trace"}


def _listed(value: object) -> object:
    if isinstance(value, list | tuple):
        return tuple(cast("list[object]", value))
    if isinstance(value, str):
        return (value,)
    raise ValueError("a text or a list of texts belongs here")


def _names(value: object) -> object:
    if value is None or isinstance(value, bool):
        return value
    try:
        return _listed(value)
    except ValueError:
        raise ValueError("true, false or a list of names belongs here") from None


def _iso(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _none(value: object) -> object:
    # TOML has no null, so it is written as on the command line.
    return None if isinstance(value, str) and value.strip().lower() == "none" else value


_Texts: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_listed)]
_Moment: TypeAlias = Annotated[str, BeforeValidator(_iso)]
_Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
_Threshold: TypeAlias = Annotated[_Share | None, BeforeValidator(_none)]
_File: TypeAlias = Annotated[Path, Field(strict=False)]
_Text: TypeAlias = Annotated[str, Field(min_length=1)]


class PixieConfig(BaseModel):
    """The settings of a project; ``None`` or empty where it says nothing.

    Attributes:
        root: The folder that paths are relative to: that of the ``pyproject.toml``, else the current one.
        source: The ``pyproject.toml`` that was read; ``None`` where there is none.
        evaluators: References as on the command line; files in them are absolute here.
        select: Which observation is judged.
        per: What a case is made of, ``trace`` or ``conversation``.
        explain: Whether to say which part of the selector matches nothing.
        expect: The file of expectations.
        cases: The file of finished cases to judge where no traces are named.
        threshold: The score to reach where an evaluator has no threshold of its own.
        thresholds: The score to reach, by evaluator; ``"none"`` to measure only.
        pct: The share of judged cases that must pass.
        allow_errors: The share of cases that may have errors.
        trace: Trace ids to take.
        service: Services to take.
        since: Take traces that start at this moment or later.
        until: Take traces that start before this moment.
        where: Conditions on traces.
        limit: Take at most so many traces.
        sample: Take this share of the traces.
        seed: Another seed takes another sample.
        all: Whether traces without anything to judge are judged too.
        timeout: Seconds that one call of a user's evaluator may take; 0 for as long as it likes.
        concurrency: How many calls of users' evaluators run at the same time.
        strict: Whether the first thing that is wrong with a file ends the run.
        max_line_bytes: Skip and report longer lines.
        quiet: Whether to print only the verdict.
        verbose: Whether to print every case with every evaluator's outcome.
        no_progress: Whether to show no progress.
        out: The folder of all runs.
        dataset_dir: The folder of datasets; ``datasets`` beside the ``pyproject.toml``, when not given.
        file: Where `init` writes traces: a file, or a folder where it ends with a separator.
        endpoint: The base URL that `init` sends traces to, as OTLP.
        service_name: What the application is called in its traces.
        instrument: Whether `init` instruments the libraries it finds, or which of them.
        capture_content: Whether inputs and outputs are recorded.
        redact: Whether credentials are taken out of what is recorded.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    root: Path = Field(default_factory=Path.cwd)
    source: Path | None = None
    evaluators: _Texts = ()
    select: str | None = None
    per: Literal["trace", "conversation"] | None = None
    explain: bool | None = None
    expect: _File | None = None
    cases: _File | None = None
    threshold: _Share | None = None
    thresholds: dict[str, _Threshold] = {}
    pct: _Share | None = None
    allow_errors: _Share | None = None
    trace: _Texts = ()
    service: _Texts = ()
    since: _Moment | None = None
    until: _Moment | None = None
    where: _Texts = ()
    limit: Annotated[int, Field(ge=1)] | None = None
    sample: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: int | None = None
    all: bool | None = None
    timeout: Annotated[float, Field(ge=0)] | None = None
    concurrency: Annotated[int, Field(ge=1)] | None = None
    strict: bool | None = None
    max_line_bytes: Annotated[int, Field(ge=1)] | None = None
    quiet: bool | None = None
    verbose: bool | None = None
    no_progress: bool | None = None
    out: _File | None = None
    dataset_dir: Annotated[_File, Field(validate_default=True)] = Path("datasets")
    file: _Text | None = None
    endpoint: _Text | None = None
    service_name: _Text | None = None
    instrument: Annotated[bool | tuple[_Text, ...] | None, BeforeValidator(_names)] = None
    capture_content: bool | None = None
    redact: bool | None = None

    @field_validator("evaluators")
    @classmethod
    def _absolute_references(cls, references: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        root = _root(info)
        return tuple(_absolute(reference, root) for reference in references)

    @field_validator("expect", "cases", "out", "dataset_dir")
    @classmethod
    def _absolute_path(cls, path: Path | None, info: ValidationInfo) -> Path | None:
        return None if path is None else _root(info) / _expanded(str(path))

    @field_validator("file")
    @classmethod
    def _absolute_file(cls, file: str | None, info: ValidationInfo) -> str | None:
        # A `Path` forgets the separator at the end that makes it a folder.
        return None if file is None else os.path.join(_root(info), _expanded(file))  # noqa: PTH118 - see above

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read the settings in a ``pyproject.toml``.

        Args:
            path: The file.

        Raises:
            ConfigError: The file cannot be read, is no TOML, or holds a setting that is unknown or has a wrong value.
        """
        source = Path(path)
        try:
            document = tomllib.loads(source.read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"{source}: cannot be read: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{source}: no valid TOML: {error}") from error
        settings = _settings(_table(document, source), source)
        try:
            # Absolute, for what is looked up after the current directory has changed.
            return cls(root=source.absolute().parent, source=source.absolute(), **settings)
        except ValidationError as error:
            raise ConfigError("\n".join(_explain(source, error))) from error


def get_config(start: str | os.PathLike[str] | None = None) -> PixieConfig:
    """Find the settings that hold in a folder: those of the nearest ``pyproject.toml``, upwards from it.

    Args:
        start: The folder; the current one, when not given.

    Raises:
        ConfigError: The file cannot be used, or the current folder is gone.
    """
    try:
        folder = Path.cwd() if start is None else Path(start).absolute()
    except OSError as error:
        raise ConfigError("the current folder no longer exists; change to another one") from error
    for candidate in (folder, *folder.parents):
        if (candidate / "pyproject.toml").is_file():
            return PixieConfig.read(candidate / "pyproject.toml")
    return PixieConfig(root=folder)


def _table(document: dict[str, Any], source: Path) -> dict[str, Any]:
    for name in ("tool", _TABLE):
        inner = document.get(name, {})
        if not isinstance(inner, dict):
            raise ConfigError(f"{source}: [tool.{_TABLE}] is a table of settings, and {name} is {inner!r}")
        document = cast("dict[str, Any]", inner)
    return document


def _settings(table: dict[str, Any], source: Path) -> dict[str, Any]:
    known = {_kebab(name): name for name in PixieConfig.model_fields if name not in {"root", "source"}}
    settings: dict[str, Any] = {}
    for key, value in table.items():
        spelled = _kebab(key)
        name = known.get(_PLURALS.get(spelled, spelled))
        if name is None:
            close = difflib.get_close_matches(spelled, known, 1)
            hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(known))}"
            raise ConfigError(f"{source}: [tool.{_TABLE}] {key}: no such setting; {hint}")
        if name in settings:
            raise ConfigError(f"{source}: [tool.{_TABLE}] {key}: given twice, in two spellings")
        settings[name] = value
    return settings


def _explain(source: Path, error: ValidationError) -> list[str]:
    lines: list[str] = []
    for detail in error.errors(include_url=False, include_context=False):
        name, *inner = map(str, detail["loc"])
        setting, said = ".".join([_kebab(name), *inner]), detail["msg"].removeprefix("Value error, ")
        lines.append(f"{source}: [tool.{_TABLE}] {setting}: {said}, not {detail['input']!r}")
    return lines


def _root(info: ValidationInfo) -> Path:
    # It is missing where it is itself wrong, which is an error of its own.
    root: Path = info.data.get("root", Path())
    return root


def _absolute(reference: str, root: Path) -> str:
    file, suffix, rest = reference.partition(".py:")
    return f"{root / _expanded(file)}{suffix}{rest}" if suffix else reference


def _expanded(path: str) -> str:
    # `Path.expanduser` raises for the home of somebody who does not exist.
    return os.path.expanduser(path)  # noqa: PTH111 - see above


def _kebab(name: str) -> str:
    return name.replace("_", "-")
