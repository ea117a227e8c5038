"""Where converted traces go: standard output, a file, or a folder with a file for each; all of them or nothing."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Protocol, TypeAlias

from pixie_otel.errors import ConfigError

if TYPE_CHECKING:
    from pixie_otel.traces.conversion import Converted

__all__ = ["Target", "find_target"]

_STDOUT: Final = "-"
_SPLITS: Final = ("trace",)
_SUFFIX: Final = ".jsonl"
_PACKED: Final = ".gz"
_SAFE_ID: Final = re.compile(r"[0-9a-f]{8,64}")
_DIGEST_BYTES: Final = 16
_PRIVATE: Final = 0o600

_File: TypeAlias = "IO[bytes] | gzip.GzipFile"


class Target(Protocol):
    """Where traces are written to."""

    @property
    def is_stream(self) -> bool:
        """Whether what was written cannot be taken back."""
        ...

    def write(self, traces: Iterable[Converted]) -> bool:
        """Write traces; what was there before stays unless all of them could be written.

        Args:
            traces: The traces.

        Returns:
            Whether all were wanted; whoever reads a stream may have seen enough.

        Raises:
            OSError: They cannot be written.
        """
        ...


def find_target(out: str | None, split_by: str | None, *, force: bool, as_json: bool) -> Target:
    """Say where traces are to be written, and refuse what cannot be, before anything is read.

    Args:
        out: What was typed for ``--out``.
        split_by: What was typed for ``--split-by``.
        force: Whether what is there may be replaced.
        as_json: Whether standard output is for something else.

    Raises:
        ConfigError: Something of it cannot be used.
    """
    if not out:
        raise ConfigError("no -o was given: name the file to write, or - for standard output")
    if split_by is not None and split_by not in _SPLITS:
        raise ConfigError(f"--split-by is {split_by!r}: give {', '.join(_SPLITS)}")
    if out == _STDOUT:
        if as_json or split_by:
            why = "--split-by needs a folder" if split_by else "--json writes there, too"
            raise ConfigError(f"-o - writes to standard output, and {why}: name a file or a folder")
        return _StandardOutput()
    path = Path(out)
    if not path.parent.is_dir():
        raise ConfigError(f"{path}: there is no folder {path.parent}; make it first, or give another one")
    if split_by is not None:
        if path.exists() and not path.is_dir():
            raise ConfigError(f"{path}: this is no folder, which --split-by needs; give another one")
        if path.is_dir() and any(path.iterdir()) and not force:
            raise ConfigError(f"{path}: this folder is not empty; give another one, or --force to write into it")
        return _Folder(path)
    if path.is_dir():
        raise ConfigError(f"{path}: this is a folder; name a file, or give --split-by trace for a file for each trace")
    if path.exists() and not path.is_file():
        # Replacing it would take a device or a pipe away from everybody.
        raise ConfigError(f"{path}: this is no regular file; give another one, or - for standard output")
    if path.exists() and not force:
        raise ConfigError(f"{path}: this file is there already; give another one, or --force to replace it")
    return _SingleFile(path)


class _StandardOutput:
    is_stream = True

    def __str__(self) -> str:
        return "standard output"

    def write(self, traces: Iterable[Converted]) -> bool:
        out = sys.stdout.buffer
        try:
            for trace in traces:
                _write_lines(out, trace)
            out.flush()
        except BrokenPipeError:
            # Whoever reads has seen enough; what is buffered would be complained about at exit.
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
            return False
        return True


class _SingleFile:
    is_stream = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return str(self._path)

    def write(self, traces: Iterable[Converted]) -> bool:
        from pixie_otel.runs.replaced_file import replaced_file

        with replaced_file(self._path) as file:
            if self._path.suffix == _PACKED:
                # Without a name and a time in it, the same traces are the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                    self._write(packed, traces)
            else:
                self._write(file, traces)
        return True

    def _write(self, file: _File, traces: Iterable[Converted]) -> None:
        for trace in traces:
            _write_lines(file, trace)


class _Folder:
    is_stream = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def __str__(self) -> str:
        return f"{self._path}{os.sep}"

    def write(self, traces: Iterable[Converted]) -> bool:
        made = Path(tempfile.mkdtemp(prefix=f".{self._path.name}.", dir=self._path.parent))
        try:
            for trace in traces:
                with open(made / _file_name(trace.trace_id), "ab", opener=_open_privately) as file:
                    _write_lines(file, trace)
            self._path.mkdir(exist_ok=True)
            for file_path in sorted(made.iterdir()):
                file_path.replace(self._path / file_path.name)
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return True


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, _PRIVATE)


def _file_name(trace_id: str) -> str:
    """Give a name that is one on every system, whatever stands in a file for a trace's id."""
    if _SAFE_ID.fullmatch(trace_id):
        return f"{trace_id}{_SUFFIX}"
    digest = blake2b(trace_id.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
    return f"trace-{digest}{_SUFFIX}"


def _write_lines(file: _File, trace: Converted) -> None:
    for line in trace.lines:
        file.write(line)
        file.write(b"\n")
