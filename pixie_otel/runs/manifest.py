"""The manifest of a run, ``run.json``: what was run on what, and what came of it.

The policy of reading older and newer formats is that of the results, see `pixie_otel.runs.records`.
"""

from __future__ import annotations

import hashlib
import os
import platform
import stat
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from pixie_otel.errors import InputError
from pixie_otel.runs.records import SCHEMA, ProblemRecord, decode_versioned, encode_record
from pixie_otel.runs.replaced_file import replaced_file
from pixie_otel.runs.summary import Summary
from pixie_otel.runs.verdict import Verdict
from pixie_otel.traces.report import Problem

__all__ = ["EvaluatorRecord", "InputFile", "Manifest", "Problems", "RunStatus", "current_versions"]

MANIFEST_NAME: Final = "run.json"


class RunStatus(StrEnum):
    """How far a run is."""

    RUNNING = "running"
    """It is going on, or was killed."""

    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    """An error ended it, not the verdict."""


class EvaluatorRecord(Struct, frozen=True, kw_only=True):
    """An evaluator as it was used.

    Attributes:
        name: Its name in the results.
        reference: What the user wrote to get it, without settings; else where it is defined.
        source: Where it is defined.
        sha256: The digest of the user's file that defines it.
        parameters: What it was made with, as far as that is known; credentials are masked.
        threshold: The score to reach; ``None`` where it only measures.
        severity: ``fail`` or ``warn``.
    """

    name: str
    reference: str | None = None
    source: str | None = None
    sha256: str | None = None
    parameters: dict[str, Any] = {}
    threshold: float | None = None
    severity: str = "fail"


class InputFile(Struct, frozen=True, kw_only=True):
    """A file that the run read.

    Attributes:
        path: The path as given.
        size: Its size in bytes; ``None`` for what is no regular file, or none any more.
        sha256: The digest of its bytes, likewise.
    """

    path: str
    size: int | None = None
    sha256: str | None = None

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> InputFile:
        """Measure a file.

        Args:
            path: The file; what is no regular file, as standard input, is named and not read. So is what is gone since
                it was found: its writer may have packed it, or deleted it to make room.

        Raises:
            InputError: The file cannot be read.
        """
        name = os.fspath(path)
        try:
            if not stat.S_ISREG(Path(path).stat().st_mode):
                return cls(path=name)
            with Path(path).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                return cls(path=name, size=file.tell(), sha256=digest)
        except FileNotFoundError:
            return cls(path=name)
        except OSError as error:
            raise InputError(f"{name}: cannot be read: {error.strerror}") from error


class Problems(Struct, frozen=True):
    """What was wrong with the inputs: exact counts, and as many in full as there is room for.

    Attributes:
        counts: How many there were, by kind.
        kept: Some of each kind.
    """

    counts: dict[str, int] = {}
    kept: list[ProblemRecord] = []

    @classmethod
    def of(cls, problems: Iterable[Problem], *, max_per_kind: int = 20) -> Problems:
        """Count problems and keep the first of each kind.

        Args:
            problems: The problems.
            max_per_kind: How many of a kind are kept.
        """
        counts: Counter[str] = Counter()
        kept: list[ProblemRecord] = []
        for problem in problems:
            counts[problem.kind] += 1
            if counts[problem.kind] <= max_per_kind:
                kept.append(ProblemRecord.of(problem))
        return cls(dict(sorted(counts.items())), kept)


class Manifest(Struct, frozen=True, kw_only=True):
    """What was run on what, and what came of it.

    Attributes:
        schema: The format of this file.
        run_id: The run's id, which is also its folder's name.
        status: How far it is.
        started_at: When it started, ISO 8601 in UTC.
        ended_at: When it ended, likewise.
        versions: What it ran with: pixie-otel, Python, autoevals, the platform.
        settings: What it was told to do; never the command line, which may hold anything.
        evaluators: The evaluators as they were used.
        inputs: The traces' files, or the file of finished cases.
        expect: The file of expectations, where one was given.
        counts: How many traces were read, judged, left out and why.
        reading: The accounting of the reading, as the reader gives it.
        problems: What was wrong with the inputs and the other files given.
        summary: What was found.
        verdict: What it comes to.
    """

    schema: int = SCHEMA
    run_id: str
    status: RunStatus = RunStatus.RUNNING
    started_at: str
    ended_at: str | None = None
    versions: dict[str, str] = {}
    settings: dict[str, Any] = {}
    evaluators: tuple[EvaluatorRecord, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    expect: InputFile | None = None
    counts: dict[str, Any] = {}
    reading: dict[str, Any] | None = None
    problems: Problems = Problems()
    summary: Summary | None = None
    verdict: Verdict | None = None

    def save(self, folder: Path) -> None:
        """Write it into a run's folder, as a whole or not at all.

        Args:
            folder: The run's folder.
        """
        # Laid out for people: it is the first file that they look into.
        with replaced_file(folder / MANIFEST_NAME) as file:
            file.write(msgspec.json.format(encode_record(self), indent=2) + b"\n")

    @staticmethod
    def load(folder: Path) -> Manifest:
        """Read it from a run's folder.

        Args:
            folder: The run's folder.

        Raises:
            InputError: There is none, it is damaged, or of a newer format than this version reads.
        """
        path = folder / MANIFEST_NAME
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{folder} is no run: {path.name} cannot be read: {error.strerror}") from error
        return decode_versioned(_MANIFESTS, data, str(path), written_by=_writer(data))


class _Writer(Struct, frozen=True):
    versions: dict[str, str] = {}


_MANIFESTS: Final = msgspec.json.Decoder(Manifest)


def current_versions() -> dict[str, str]:
    """Give the versions that a run depends on."""
    return {
        **{name: version(name) for name in ("pixie-otel", "autoevals")},
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
    }


def _writer(data: bytes) -> str | None:
    try:
        return msgspec.json.decode(data, type=_Writer).versions.get("pixie-otel")
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
