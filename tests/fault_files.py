"""What trace files hold, for facts about files."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

from pixie_otel.exporters.trace_files import Appended, TraceFile

LINE = b"a line\n"


def append(file: TraceFile, *lines: bytes) -> None:
    """Append lines, all of which must be taken."""
    for line in lines:
        assert file.append(line) == Appended(len(line))


def mode_of(path: Path) -> int:
    """Give who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


def texts_in(folder: Path) -> list[bytes]:
    """Give what all files hold, the oldest first."""
    files = sorted((path for path in folder.iterdir() if path.is_file()), key=lambda path: path.stat().st_mtime_ns)
    return [gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes() for file in files]
