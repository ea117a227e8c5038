"""The folder of all runs: finding a run by what people call it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

from pixie_otel.errors import ConfigError, InputError
from pixie_otel.runs.manifest import MANIFEST_NAME, Manifest
from pixie_otel.runs.run import Run

__all__ = ["find_run", "run_folders"]

_RUN_ID: Final = re.compile(r"\d{8}-\d{6}-[a-z0-9]{6}")


def run_folders(out: str | os.PathLike[str]) -> list[Path]:
    """List the runs in a folder, the oldest first.

    Args:
        out: The folder of all runs.

    Returns:
        The runs' folders; none where the folder does not exist.
    """
    folder = Path(out)
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _RUN_ID.fullmatch(path.name) and (path / MANIFEST_NAME).exists())


def find_run(reference: str | os.PathLike[str], out: str | os.PathLike[str] = "pixie-runs") -> Run:
    """Open a run by its id, the beginning of one, its path, or ``latest``.

    Args:
        reference: What to look for; an id goes before a path.
        out: The folder of all runs.

    Raises:
        ConfigError: There is no such run, or several begin like that.
        InputError: The run is damaged, or of a newer format than this version reads.
    """
    name = os.fspath(reference)
    folders = run_folders(out)
    if name == "latest":
        if not folders:
            raise ConfigError(f"there is no run in {os.fspath(out)}")
        return Run.open(_latest(folders))
    found = [path for path in folders if path.name.startswith(name)] if name else []
    if len(found) == 1:
        return Run.open(found[0])
    if len(found) > 1:
        listed = ", ".join(path.name for path in found[:5])
        raise ConfigError(f"{name!r} is the beginning of {len(found)} runs: {listed}; give more of the id")
    path = Path(name)
    if name and (path.is_dir() or path.is_file()):
        return Run.open(path)
    known = ", ".join(path.name for path in reversed(folders[-5:])) or "none"
    raise ConfigError(
        f"no run {name!r}: it is neither a path nor the beginning of an id in {os.fspath(out)}; the last runs: {known}"
    )


def _latest(folders: list[Path]) -> Path:
    # Ids tell seconds; which of several runs in the last second came last is for their manifests to say.
    newest = folders[-1].name[:15]
    return max((path for path in folders if path.name.startswith(newest)), key=_started)


def _started(folder: Path) -> str:
    try:
        return Manifest.load(folder).started_at
    except InputError:
        return ""
