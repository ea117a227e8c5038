"""A file that is replaced as a whole, or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

__all__ = ["replaced_file"]


@contextmanager
def replaced_file(path: Path) -> Generator[IO[bytes]]:
    """Open a temporary file beside a path, and put it in its place when the block ends well.

    Whoever reads the path sees what was there before or all of what is new, also after a crash. The file is the
    user's alone (0600).

    Args:
        path: The file to replace or to create.

    Yields:
        The temporary file, open for writing.
    """
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        # Also when interrupted: no temporary file stays behind.
        temporary.unlink(missing_ok=True)
        raise
