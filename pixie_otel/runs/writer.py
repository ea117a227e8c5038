"""Writing a run: a folder of its own, a line per case as it finishes, canonical order when it closes."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

import msgspec

from pixie_otel.errors import ConfigError, PixieError
from pixie_otel.evals.case import CaseResult
from pixie_otel.runs.manifest import EvaluatorRecord, InputFile, Manifest, Problems, RunStatus, current_versions
from pixie_otel.runs.records import case_id_of, encode_result
from pixie_otel.runs.replaced_file import replaced_file
from pixie_otel.runs.run import RESULTS_NAME, Run
from pixie_otel.runs.summary import Summary, SummaryBuilder
from pixie_otel.runs.verdict import UNFINISHED, Verdict
from pixie_otel.traces.report import Problem

__all__ = ["RunWriter", "check_out"]

_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz0123456789"
_LAST_TIME: Final = 2**64 - 1
_IGNORE_ALL: Final = "# Made by pixie-otel: runs hold what was said to the model, and belong in no repository.\n*\n"


class RunWriter:
    """Writes one run, from one thread.

    The folder is made at once, so that a place that cannot be written to is known before anything is judged. Every
    result is one write of a whole line: what is done is kept, whatever ends the run. Memory holds 16 bytes a case.
    As a context manager it marks a run that ends in an exception as interrupted or failed.

    Args:
        out: The folder of all runs, made where it is missing. ``None`` keeps the run in a temporary folder, which is
            removed when neither this writer nor the `Run` is referenced any longer.
        settings: What the run was told to do, for the manifest.
        evaluators: The evaluators as they are used, in the order to show them.
        inputs: The files that will be read.
        expect: The file of expectations, where there is one.
        started: When the run started; now, when not given.

    Attributes:
        id: The run's id: its start in UTC and a random part.
        path: The run's folder, absolute.

    Raises:
        ConfigError: The folder cannot be made or written to.
    """

    def __init__(
        self,
        out: str | os.PathLike[str] | None = "pixie-runs",
        *,
        settings: Mapping[str, Any] | None = None,
        evaluators: Sequence[EvaluatorRecord] = (),
        inputs: Sequence[InputFile] = (),
        expect: InputFile | None = None,
        started: datetime | None = None,
    ) -> None:
        moment = (started or datetime.now(UTC)).astimezone(UTC)
        self._keep: object = None
        try:
            if out is None:
                folder = Path(tempfile.mkdtemp(prefix="pixie-run-"))
                self._keep = _TemporaryFolder(folder)
                self.path = _make_run_folder(folder, moment)
            else:
                # Absolute, as an evaluator may change the current directory.
                self.path = _make_run_folder(_prepared(Path(out).absolute()), moment)
            self.id = self.path.name
            self._manifest = Manifest(
                run_id=self.id,
                started_at=moment.isoformat(),
                versions=current_versions(),
                settings=dict(settings or {}),
                evaluators=tuple(evaluators),
                inputs=tuple(inputs),
                expect=expect,
            )
            self._manifest.save(self.path)
            self._file = _open_results(self.path / RESULTS_NAME)
        except OSError as error:
            raise _cannot_be_saved(out, error.strerror or str(error)) from error
        self._summary = SummaryBuilder(tuple(record.name for record in evaluators))
        self._starts = array("Q")
        self._offsets = array("Q")
        self._end = 0
        self._run: Run | None = None

    @property
    def summary(self) -> Summary:
        """What was found so far."""
        return self._summary.build()

    def write(self, result: CaseResult) -> None:
        """Append one judged case.

        Args:
            result: The judged case.

        Raises:
            PixieError: The disk does not take it; what was written before is kept.
        """
        line = encode_result(result)
        try:
            _write_whole(self._file, line, self._end)
        except OSError as error:
            raise PixieError(
                f"{self.path / RESULTS_NAME}: cannot be written: {error.strerror}; "
                f"the {len(self._offsets)} results before it are kept"
            ) from error
        self._offsets.append(self._end)
        self._starts.append(min(max(result.case.start_time_unix_nano, 0), _LAST_TIME))
        self._end += len(line)
        self._summary.add(result)

    def finish(
        self,
        verdict: Verdict,
        *,
        status: RunStatus = RunStatus.FINISHED,
        counts: Mapping[str, Any] | None = None,
        reading: Mapping[str, Any] | None = None,
        problems: Iterable[Problem] = (),
    ) -> Run:
        """Put the results into canonical order, by start time and case id, and complete the manifest.

        Args:
            verdict: What the run comes to.
            status: How it ended.
            counts: How many traces were read, judged, left out and why.
            reading: The accounting of the reading.
            problems: What was wrong with the inputs and the other files given.

        Returns:
            The run, to read its results from.

        Raises:
            PixieError: The disk does not take it; the results that were written are kept, in the order they came.
        """
        try:
            if not self._file.closed:
                self._close_results()
            self._manifest = msgspec.structs.replace(
                self._manifest,
                status=status,
                ended_at=datetime.now(UTC).isoformat(),
                counts=dict(counts or {}),
                reading=None if reading is None else dict(reading),
                problems=Problems.of(problems),
                summary=self.summary,
                verdict=verdict,
            )
            self._manifest.save(self.path)
        except OSError as error:
            raise PixieError(
                f"{self.path}: the run cannot be completed: {error.strerror}; "
                f"the {len(self._offsets)} results that were written are kept"
            ) from error
        self._run = Run(self.path, self._manifest, keep=self._keep)
        return self._run

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # What went wrong first is what the user must hear of, so a full disk does not take its place.
        with closing(self._file), suppress(PixieError):
            if self._run is not None:
                return
            if kind is None or issubclass(kind, KeyboardInterrupt):
                self.finish(UNFINISHED, status=RunStatus.INTERRUPTED)
            else:
                self.finish(Verdict(4, f"NOT FINISHED: {kind.__name__} ended the run"), status=RunStatus.FAILED)

    def _close_results(self) -> None:
        with self._file:
            # An interrupt may have come between a line and the account of it.
            os.ftruncate(self._file.fileno(), self._end)
            os.fsync(self._file.fileno())
        path = self.path / RESULTS_NAME
        with path.open("rb") as written:
            order = self._canonical_order(written)
            if all(position == index for position, index in enumerate(order)):
                return
            with replaced_file(path) as sorted_file:
                for index in order:
                    written.seek(self._offsets[index])
                    sorted_file.write(written.readline())
                # Windows replaces no file that is open.
                written.close()

    def _canonical_order(self, written: IO[bytes]) -> list[int]:
        def case_id(index: int) -> str:
            written.seek(self._offsets[index])
            return case_id_of(written.readline())

        order: list[int] = []
        # Only cases that start together need their ids, so the ids are looked up in the file and not held in memory.
        by_start = sorted(range(len(self._starts)), key=self._starts.__getitem__)
        for _, together in groupby(by_start, key=self._starts.__getitem__):
            group = list(together)
            order += sorted(group, key=case_id) if len(group) > 1 else group
        return order


def check_out(out: str | os.PathLike[str] | None) -> None:
    """See as far as can be seen whether a folder can take runs, and leave everything as it is.

    Args:
        out: The folder of all runs, which may be missing; ``None`` for a temporary one.

    Raises:
        ConfigError: It cannot.
    """
    if out is None:
        return
    try:
        folder = Path(out).absolute()
        while not folder.exists():
            folder = folder.parent
    except OSError as error:
        raise _cannot_be_saved(out, error.strerror or str(error)) from error
    if not folder.is_dir():
        raise _cannot_be_saved(out, f"{folder} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _cannot_be_saved(out, f"{folder} cannot be written to")


def _cannot_be_saved(out: str | os.PathLike[str] | None, reason: str) -> ConfigError:
    return ConfigError(f"the results cannot be saved in {out}: {reason}; name another folder with --out")


class _TemporaryFolder:
    """A folder that goes when nothing refers to it any longer."""

    def __init__(self, path: Path) -> None:
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)


def _prepared(out: Path) -> Path:
    created = not out.exists()
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A folder with other things in it is the user's: a `*` there would hide them from git as well.
    if created or next(out.iterdir(), None) is None:
        _ignore_in_git(out)
    return out


def _make_run_folder(out: Path, moment: datetime) -> Path:
    stamp = moment.strftime("%Y%m%d-%H%M%S")
    while True:
        folder = out / f"{stamp}-{''.join(secrets.choice(_ALPHABET) for _ in range(6))}"
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            continue
        if not (out / ".gitignore").exists():
            _ignore_in_git(folder)
        return folder


def _ignore_in_git(folder: Path) -> None:
    # Another run may be making the same folder at this moment.
    with suppress(FileExistsError), (folder / ".gitignore").open("x", encoding="utf-8") as file:
        file.write(_IGNORE_ALL)


def _open_results(path: Path) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb", buffering=0)


def _write_whole(file: IO[bytes], line: bytes, start: int) -> None:
    view = memoryview(line)
    try:
        while view:
            view = view[file.write(view) :]
    except OSError:
        # A part of a line would spoil the next one.
        os.ftruncate(file.fileno(), start)
        raise
