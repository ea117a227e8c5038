"""Files of the user's that define evaluators: each is imported once, and nothing of theirs shadows anything."""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import re
import sys
from difflib import get_close_matches
from hashlib import sha256
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Final

from pixie_otel.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import CodeType, ModuleType

__all__ = ["find_in_file", "load_file"]

_PREFIX: Final = "pixie_user_file_"
_folders: Final[set[str]] = set()
"""The folders that were put on `sys.path` here."""


def load_file(path: str) -> ModuleType:
    """Import a file; the same content from the same place is imported once, whoever asks.

    It gets a module name of its own, under which pickle and dataclasses find it. Its folder is put at the end of
    `sys.path`, so that it finds its neighbours, and these hide neither installed packages nor the standard library; nor
    do neighbours of another file, of the same name, take their place. What it prints goes to stderr, since a command's
    own output may be data.

    Args:
        path: The file.

    Raises:
        ConfigError: There is no such file, or it cannot be imported; with the line that it stopped at.
    """
    file = Path(path).expanduser().resolve()
    try:
        content = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: the evaluators' file cannot be read ({file}): {error.strerror or error}") from error
    name = _module_name(file, content)
    if name in sys.modules:
        return sys.modules[name]
    loader = _Loader(name, str(file))
    spec = importlib.machinery.ModuleSpec(name, loader, origin=str(file))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with contextlib.redirect_stdout(sys.stderr), _neighbours(str(file.parent)):
            loader.exec_module(module)
    except KeyboardInterrupt:
        del sys.modules[name]
        raise
    except BaseException as error:
        # Whatever the file raises, `sys.exit()` included, is its own fault and no reason to end without a message.
        del sys.modules[name]
        raise ConfigError(f"{_place(error, file)}: importing it {_told(error)}") from error
    return module


def find_in_file(module: ModuleType, name: str, path: str) -> object:
    """Find what a file calls by a name.

    Args:
        module: The imported file.
        name: The name.
        path: The file as the user named it, for the message.

    Raises:
        ConfigError: There is none; with those that there are.
    """
    if name in vars(module):
        return vars(module)[name]
    own = [
        key
        for key, value in vars(module).items()
        if not key.startswith("_") and callable(value) and _belongs(value, module)
    ]
    close = get_close_matches(name, own, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    raise ConfigError(f"{path} has no {name!r}; {hint}It defines: {', '.join(own) or 'nothing that can be called'}")


@contextlib.contextmanager
def _neighbours(folder: str) -> Generator[None]:
    """Let imports find the modules in a folder, before those in the folders of other evaluators' files."""
    others = [path for path in sys.path if path in _folders and path != folder]
    if folder not in sys.path or folder in _folders:
        sys.path[:] = [*(path for path in sys.path if path not in _folders), folder, *others]
        _folders.add(folder)
    elsewhere = tuple(f"{path}{os.sep}" for path in others)
    hidden = {
        name: module
        for name, module in sys.modules.copy().items()
        if (getattr(module, "__file__", None) or "").startswith(elsewhere) and _is_in(folder, name.partition(".")[0])
    }
    for name in hidden:
        del sys.modules[name]
    try:
        yield
    finally:
        # An import from inside a function finds the first of two.
        sys.modules.update(hidden)


def _is_in(folder: str, name: str) -> bool:
    return Path(folder, f"{name}.py").is_file() or Path(folder, name).is_dir()


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles the file anew: bytecode goes by size and second, and an edit may change neither."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)


def _module_name(file: Path, content: bytes) -> str:
    digest = sha256(str(file).encode("utf-8", "surrogateescape") + b"\0" + content).hexdigest()[:12]
    stem = re.sub(r"\W", "_", file.stem)
    return f"{_PREFIX}{stem}_{digest}"


def _belongs(value: object, module: ModuleType) -> bool:
    # An instance of an imported class was still made here; an imported class or function was not.
    home = vars(value).get("__module__") if isinstance(value, type) else getattr(value, "__module__", None)
    return home == module.__name__ or not (isinstance(value, type) or hasattr(value, "__qualname__"))


def _place(error: BaseException, file: Path) -> str:
    if isinstance(error, SyntaxError) and error.filename == str(file):
        return f"{file}:{error.lineno}"
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == str(file)]
    return f"{file}:{lines[-1]}" if lines else str(file)


def _told(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({error.code!r}); an evaluators' file is imported, so guard its script part by __name__"
    return f"raised {type(error).__name__}: {error}"
