"""From what the user typed to the bytes of each input: files, folders, globs, pipes, compressed or not."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TextIO

from pixie_otel.errors import InputError
from pixie_otel.traces.report import Problem
from pixie_otel.traces.stored import PlainFile, SourceBytes, Spool
from pixie_otel.traces.unpack import HEAD_BYTES, PackedInput, is_plain, text_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager

    from pixie_otel.traces.limits import ReadLimits
    from pixie_otel.traces.report import ReadReport

__all__ = ["Source", "find_sources", "open_source"]

_STDIN: Final = "-"
_STDIN_NAME: Final = "<stdin>"
_TRACE_FILE: Final = re.compile(r"\.(?:jsonl|json|ndjson|pb|binpb)(?:\.(?:gz|zst))?\Z", re.IGNORECASE)
_SUFFIXES: Final = ".jsonl, .json, .ndjson, .pb or .binpb, also with .gz or .zst"
# What the shell makes of `<(command)`: a pipe with a name, but one that somebody writes to.
_DESCRIPTOR: Final = re.compile(r"/dev/fd/\d+|/proc/(?:self|\d+)/fd/\d+")


@dataclass(frozen=True, slots=True)
class Source:
    """One input to read.

    Attributes:
        name: Its name for people: the path as typed or found, or ``<stdin>``.
        path: Where it is; None for standard input.
        is_stream: Whether its bytes come only once.
    """

    name: str
    path: str | None
    is_stream: bool


def find_sources(paths: Iterable[str | os.PathLike[str]]) -> list[Source]:
    """Find the inputs behind paths: files, folders (searched to any depth), globs, and ``-`` for standard input.

    An input that is there twice, by whatever name or link, is given once.

    Args:
        paths: What the user typed.

    Raises:
        InputError: Something typed leads to nothing that can be read; the message says what and why.
    """
    found: dict[object, Source] = {}
    for path in paths:
        for identity, source in _find(os.fspath(path)):
            found.setdefault(identity, source)
    if not found:
        raise InputError("no path was given; name a trace file, a folder of them, or - for standard input")
    return list(found.values())


def open_source(source: Source, *, limits: ReadLimits, report: ReadReport, spool: Spool | None = None) -> SourceBytes:
    """Open an input for reading from any offset; unpack it first, or copy it, where that is needed.

    What is damaged is kept up to the damage; what is no text at all is empty, and so is a file that is gone since it
    was found. All of it is reported.

    Args:
        source: The input.
        limits: How much it may unpack to.
        report: Told of everything that is wrong with it.
        spool: Where unpacked text goes; one of its own if None. Give the same one for all inputs of a reading.

    Raises:
        InputError: It cannot be opened, or there is no room to unpack it.
        MissingExtraError: It is zstd, and the library for that is not installed.
    """
    problems_before = sum(report.counts.values())
    if source.path is not None and not source.is_stream and not os.path.lexists(source.path):
        packed = Source(f"{source.name}.gz", f"{source.path}.gz", is_stream=False)
        # Its writer may have packed it since it was found, or deleted it to make room.
        if not os.path.lexists(f"{source.path}.gz"):
            report.add(Problem("gone-file", "it was deleted after it was found, so it is not read", source.name))
            return SourceBytes(source.name, Spool(0), start=0, size=0, on_close=_keep)
        source = packed
    opened = _open_plain(source) or _open_unpacked(source, limits, report, spool)
    report.source(source.name).bytes = opened.size
    if not opened.size and sum(report.counts.values()) == problems_before:
        opened.close()
        report.add(Problem("empty-file", "it is empty; was the exporter shut down before the app ended?", source.name))
    return opened


def _find(typed: str) -> Iterator[tuple[object, Source]]:
    """Give what one typed path leads to, each with what tells whether it is the same as another."""
    if typed in {_STDIN, "/dev/stdin"}:
        yield _stdin()
        return
    path = os.path.expanduser(typed)  # noqa: PTH111 - a Path would drop what makes "./-" differ from "-"
    try:
        status = os.stat(path)  # noqa: PTH116 - likewise
    except (FileNotFoundError, NotADirectoryError) as error:
        if not glob.has_magic(path):
            raise _unreadable(typed, error) from error
        yield from _find_matches(path)
    except (OSError, ValueError) as error:
        raise _unreadable(typed, error) from error
    else:
        if stat.S_ISDIR(status.st_mode):
            found = list(_find_in_folder(path))
            if not found:
                raise InputError(f"{_shown(typed)}: no trace files in this folder; they are called {_SUFFIXES}")
            yield from found
        else:
            yield _file(path)


def _find_matches(pattern: str) -> Iterator[tuple[object, Source]]:
    found = False
    for match in sorted(glob.glob(pattern, recursive=True)):  # noqa: PTH207 - Path.glob takes no absolute patterns
        for each in _find_in_folder(match) if os.path.isdir(match) else [_file(match)]:  # noqa: PTH112 - a plain string
            found = True
            yield each
    if not found:
        raise InputError(f"{_shown(pattern)}: nothing matches; check the pattern, and quote it for the shell")


def _find_in_folder(folder: str) -> Iterator[tuple[object, Source]]:
    def fail(error: OSError) -> None:
        raise _unreadable(os.fsdecode(error.filename or folder), error) from error

    files: list[Path] = []
    entered: set[object] = set()
    for parent, folders, names in os.walk(folder, followlinks=True, onerror=fail):
        # Links may lead back to a folder that was entered already.
        identity = _identity(parent)
        if identity in entered:
            folders.clear()
            continue
        entered.add(identity)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [Path(parent, name) for name in names if not name.startswith(".") and _TRACE_FILE.search(name)]
    for path in sorted(files):
        # One that is gone since the folder was listed was packed, which its writer does with what is full, or deleted.
        for name in (str(path), f"{path}.gz"):
            if os.path.lexists(name):
                yield _file(name)
                break


def _file(path: str) -> tuple[object, Source]:
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a plain string
        identity = _identity(path)
    except OSError as error:
        raise _unreadable(path, error) from error
    is_stream = stat.S_ISFIFO(mode) and _DESCRIPTOR.fullmatch(os.path.abspath(path)) is not None  # noqa: PTH100 - links stay
    if not is_stream and not stat.S_ISREG(mode):
        raise InputError(f"{_shown(path)}: this is {_special(mode)}, not a file; give a file, or pipe the data into -")
    if not os.access(path, os.R_OK):
        raise InputError(f"{_shown(path)}: permission denied; run as somebody who may read it, or change its mode")
    return identity, Source(_shown(path), path, is_stream)


def _stdin() -> tuple[object, Source]:
    # Python has no standard input where the process was started without one.
    standard_input: TextIO | None = sys.stdin
    if standard_input is None or standard_input.closed:
        raise InputError("-: there is no standard input; name a file instead")
    if standard_input.isatty():
        raise InputError("-: standard input is a terminal; pipe the traces in, or name a file")
    try:
        status = os.fstat(standard_input.fileno())
    except (OSError, ValueError):
        identity: object = _STDIN
    else:
        identity = (status.st_dev, status.st_ino)
    return identity, Source(_STDIN_NAME, None, is_stream=True)


def _identity(path: str) -> object:
    status = os.stat(path)  # noqa: PTH116 - a plain string
    # Some file systems number nothing.
    return (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(path)


def _special(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "a named pipe"
    return "a socket" if stat.S_ISSOCK(mode) else "a device"


def _shown(path: str) -> str:
    """Spell a path so that it can be written anywhere: names on disk need not be valid text."""
    return path.encode("utf-8", "backslashreplace").decode()


def _unreadable(path: str, error: OSError | ValueError) -> InputError:
    shown = _shown(path)
    if isinstance(error, FileNotFoundError):
        return InputError(f"{shown}: no such file or folder; check the spelling and the current folder")
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return InputError(f"{shown}: cannot be read: {reason[:1].lower()}{reason[1:]}; check the path and its permissions")


def _open_plain(source: Source) -> SourceBytes | None:
    """Open a file that can be read where it lies; None for all others."""
    if source.path is None or source.is_stream:
        return None
    try:
        file = PlainFile(source.path)
    except OSError as error:
        raise _unreadable(source.name, error) from error
    try:
        head = file.read_at(0, HEAD_BYTES)
    except OSError as error:
        file.close()
        raise _unreadable(source.name, error) from error
    if is_plain(head):
        return SourceBytes(source.name, file, start=0, size=file.size, on_close=file.close)
    file.close()
    return None


def _open_unpacked(source: Source, limits: ReadLimits, report: ReadReport, spool: Spool | None) -> SourceBytes:
    target = Spool(limits.spool_bytes) if spool is None else spool
    on_close = target.close if spool is None else _keep
    start = target.size
    try:
        _copy_text(source, target, limits, report)
    except BaseException:
        on_close()
        raise
    return SourceBytes(source.name, target, start=start, size=target.size - start, on_close=on_close)


def _keep() -> None:
    """Leave the spool to whoever made it."""


def _copy_text(source: Source, target: Spool, limits: ReadLimits, report: ReadReport) -> None:
    def complain(kind: str, message: str) -> None:
        report.add(Problem(kind, message, source.name))

    digest = hashlib.sha256() if source.is_stream else None
    note = report.source(source.name).note_form
    with _raw(source) as raw:
        try:
            for chunk in text_chunks(PackedInput(raw, digest), limits, complain, note):
                target.append(chunk)
        except OSError as error:
            complain("read-error", f"reading stopped: {error.strerror or error}; what came before was read")
    if digest is not None:
        report.source(source.name).sha256 = digest.hexdigest()


def _raw(source: Source) -> AbstractContextManager[BinaryIO]:
    if source.path is None:
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(source.path).open("rb", buffering=0)
    except OSError as error:
        raise _unreadable(source.name, error) from error
