"""Every attribute key that stands in the package, by the name of its constant."""

from __future__ import annotations

import importlib
import pkgutil

from pixie_otel import attributes

MODULES = [
    attributes,
    *(
        importlib.import_module(f"{attributes.__name__}.{found.name}")
        for found in pkgutil.iter_modules(attributes.__path__)
    ),
]


def constants() -> dict[str, str]:
    """Give the constants of all modules."""
    return {
        f"{module.__name__}.{name}": value
        for module in MODULES
        for name, value in vars(module).items()
        if name.isupper()
    }


def every_key() -> set[str]:
    """Give the keys themselves; of a beginning of keys, one key that begins so."""
    return {f"{key}x" if key.endswith((".", ":")) else key for key in constants().values()}
