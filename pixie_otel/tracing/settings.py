"""What `init` is to do, put together from its arguments, the environment and the project's ``pyproject.toml``.

An argument counts before ``PIXIE_OTEL_*``, and that before ``[tool.pixie-otel]``. A value that cannot be used is told
and left out, so that what counts next holds; only where that could record what was meant to stay out, the careful value
is taken instead.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from opentelemetry.util.types import AttributeValue

from pixie_otel.errors import ConfigError

# OpenTelemetry's SDK raises while it is loaded where its variables are wrong; `init` does that where it can say so.
if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.sdk.trace.sampling import Sampler

    from pixie_otel.exporters.redaction import Redact

__all__ = ["Problem", "Settings", "is_strict", "resolve"]

_YES: Final = frozenset({"1", "on", "true", "yes"})
_NO: Final = frozenset({"0", "false", "no", "none", "off"})
_LARGEST_FILE: Final = 1 << 20
_Check: TypeAlias = Callable[[object], object]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was asked for and cannot be had."""

    message: str
    """What it is, where it was asked for, and what happens instead."""

    cause: Exception | None = None
    """What was raised, where something was."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What `init` is to do; every value has been checked."""

    file: str | None = None
    """An absolute path; a folder where it ends with a separator."""

    endpoint: str | None = None
    """The base URL of an OTLP receiver."""

    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sent with every request to the endpoint."""

    service_name: str | None = None
    """What the application is called; ``None`` leaves it to ``OTEL_SERVICE_NAME``."""

    resource_attributes: Mapping[str, AttributeValue] = field(default_factory=dict[str, AttributeValue])
    """What else is said of the application with every span."""

    instrument: bool | tuple[str, ...] = True
    """Whether libraries are instrumented, or the names of those that are."""

    capture_content: bool = True
    """Whether inputs and outputs are recorded."""

    redact: bool | Redact = True
    """Whether credentials are taken out, or what takes out more than those."""

    exporters: tuple[SpanExporter, ...] = ()
    """Further destinations."""

    sampler: Sampler | None = None
    """Decides which traces are recorded; ``None`` leaves it to ``OTEL_TRACES_SAMPLER``."""


def is_strict(argument: bool | None) -> bool:  # noqa: FBT001 - the argument of `init`, passed on
    """Say whether a fault in the setting-up is raised: as the argument says, else as ``PIXIE_OTEL_STRICT`` does."""
    if argument is not None:
        return argument
    return os.environ.get("PIXIE_OTEL_STRICT", "").strip().lower() in _YES


def resolve(arguments: Mapping[str, object]) -> tuple[Settings, list[Problem]]:
    """Put the settings together.

    Args:
        arguments: The arguments of `init` by their names; ``None`` is one that was not given.

    Returns:
        The settings, and what was wrong with values that could not be used.
    """
    problems: list[Problem] = []
    layers = [
        ({name: (f"init({name}=…)", value) for name, value in arguments.items() if value is not None}, _CHECKS),
        (_environment(), _TEXT_CHECKS),
        (_project(problems), _CHECKS),
    ]
    chosen: dict[str, Any] = {}
    for values, checks in layers:
        for name, (where, value) in values.items():
            if name in chosen:
                continue
            try:
                chosen[name] = checks[name](value)
            except (TypeError, ValueError) as error:
                careful = name in _CAREFUL
                if careful:
                    chosen[name] = _CAREFUL[name]
                held = f"{_CAREFUL[name]} holds" if careful else "it is ignored"
                problems.append(Problem(f"{where}: {error}; {held}"))
    return Settings(**chosen), problems


def _environment() -> dict[str, tuple[str, object]]:
    found: dict[str, tuple[str, object]] = {}
    for name in _TEXT_CHECKS:
        variable = f"PIXIE_OTEL_{name.upper()}"
        # An empty variable counts as one that is not set, as everywhere in OpenTelemetry.
        if text := os.environ.get(variable, "").strip():
            found[name] = (variable, text)
    return found


def _project(problems: list[Problem]) -> dict[str, tuple[str, object]]:
    source = _nearest_project()
    if source is None:
        return {}
    try:
        # Loads pydantic, which takes longer than all else that happens here.
        from pixie_otel.config import PixieConfig

        config = PixieConfig.read(source)
    except ConfigError as error:
        careful = _speaks_of_content(source)
        held = ", and no content is recorded, as they speak of it" if careful else ""
        problems.append(Problem(f"{error}; the project's settings are ignored{held}"))
        return {"capture_content": (str(source), False)} if careful else {}
    values = {name: getattr(config, name) for name in ("file", "endpoint", "service_name", *_PLAIN)}
    if os.environ.get("OTEL_SERVICE_NAME", "").strip():
        # What a deployment says counts before what the repository says.
        del values["service_name"]
    return {
        name: (f"{source}: [tool.pixie-otel] {name.replace('_', '-')}", value)
        for name, value in values.items()
        if value is not None
    }


def _speaks_of_content(source: Path) -> bool:
    """Say whether settings that cannot be used may have asked for no content to be recorded."""
    try:
        return re.search(rb"capture[-_]content", source.read_bytes()) is not None
    except OSError:
        return True


def _nearest_project() -> Path | None:
    """Find the nearest ``pyproject.toml``, if it has settings of ours."""
    try:
        folder = Path.cwd()
        source = next((path for at in (folder, *folder.parents) if (path := at / "pyproject.toml").is_file()), None)
        if source is None or source.stat().st_size > _LARGEST_FILE:
            return None
        content = source.read_bytes()
    except OSError:
        # The application may run where its user may not read, or where the folder is gone.
        return None
    if b"pixie-otel" not in content:
        return None
    try:
        tool = tomllib.loads(content.decode()).get("tool")
    except ValueError:
        return source
    return source if isinstance(tool, dict) and "pixie-otel" in tool else None


def _file(value: object) -> str:
    path = cast("os.PathLike[str]", value).__fspath__() if isinstance(value, os.PathLike) else value
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        raise ValueError(f"a path belongs here, not {value!r}")
    path = os.path.expanduser(path)  # noqa: PTH111 - a `Path` forgets the separator at the end
    try:
        # The application may change its folder later on.
        absolute = os.path.abspath(path)  # noqa: PTH100 - likewise
    except OSError:
        raise ValueError(f"the current folder, which {path!r} is relative to, no longer exists") from None
    ends = path.endswith((os.sep, os.altsep or os.sep))
    return absolute + os.sep if ends and not absolute.endswith(os.sep) else absolute


def _endpoint(value: object) -> str:
    said = "a URL such as http://localhost:4318 belongs here"
    if not isinstance(value, str):
        raise TypeError(f"{said}, not {value!r}")
    try:
        parts = urlsplit(value.strip())
        whole = parts.scheme.lower() in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ValueError(f"{said} ({error})") from None
    if not whole:
        # A URL may hold a password.
        shown = "one with credentials" if "@" in value else repr(value)
        raise ValueError(f"{said}, not {shown}")
    return value.strip()


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise TypeError("names with their values belong here, such as {'authorization': 'Bearer …'}")
    headers = dict(cast("Mapping[object, object]", value))
    for name, content in headers.items():
        if not isinstance(name, str) or not isinstance(content, str):
            # The value is not shown: it may be a key.
            raise TypeError(f"names and values are texts, and that of {name!r} is not")
    return cast("dict[str, str]", headers)


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"a name belongs here, not {value!r}")
    return value.strip()


def _attributes(value: object) -> dict[str, AttributeValue]:
    if not isinstance(value, Mapping):
        raise TypeError("names with their values belong here, such as {'deployment.environment.name': 'staging'}")
    attributes = dict(cast("Mapping[object, object]", value))
    for name, content in attributes.items():
        items = cast("Sequence[object]", content) if isinstance(content, list | tuple) else (content,)
        if not isinstance(name, str) or not all(isinstance(item, str | bool | int | float) for item in items):
            raise ValueError(
                f"names are texts, values are texts, numbers, booleans or lists of them; {name!r} is not so"
            )
    return cast("dict[str, AttributeValue]", attributes)


def _instrument(value: object) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    listed = cast("Sequence[object]", value) if isinstance(value, list | tuple | set | frozenset) else (value,)
    names = [name.strip() for name in listed if isinstance(name, str)]
    if len(names) != len(listed) or not all(names):
        raise ValueError(f"true, false or a list of names such as ['openai'] belongs here, not {value!r}")
    return tuple(dict.fromkeys(names))


def _instrument_text(value: object) -> bool | tuple[str, ...]:
    text = str(value)
    if text.lower() in _YES | _NO:
        return text.lower() in _YES
    return _instrument([name for name in text.split(",") if name.strip()])


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"true or false belongs here, not {value!r}")
    return value


def _flag_text(value: object) -> bool:
    text = str(value).lower()
    if text not in _YES | _NO:
        raise ValueError(f"true or false belongs here, not {value!r}")
    return text in _YES


def _redact(value: object) -> bool | Redact:
    if isinstance(value, bool) or callable(value):
        return cast("bool | Redact", value)
    raise ValueError(f"true, false or a function (key, value) -> value belongs here, not {value!r}")


def _exporters(value: object) -> tuple[SpanExporter, ...]:
    exporters = tuple(cast("Sequence[Any]", value)) if isinstance(value, list | tuple) else (value,)
    for exporter in exporters:
        if isinstance(exporter, type) or not callable(getattr(exporter, "export", None)):
            raise TypeError(f"span exporters of OpenTelemetry belong here, not {type(exporter).__name__}")
    return cast("tuple[SpanExporter, ...]", exporters)


def _sampler(value: object) -> Sampler:
    if isinstance(value, type) or not callable(getattr(value, "should_sample", None)):
        raise TypeError(f"a sampler of OpenTelemetry belongs here, not {value!r}")
    return cast("Sampler", value)


_PLAIN: Final[tuple[str, ...]] = ("instrument", "capture_content", "redact")
# What holds where somebody wrote something about privacy that cannot be read.
_CAREFUL: Final[Mapping[str, bool]] = {"capture_content": False, "redact": True}
_CHECKS: Final[Mapping[str, _Check]] = {
    "file": _file,
    "endpoint": _endpoint,
    "headers": _headers,
    "service_name": _name,
    "resource_attributes": _attributes,
    "instrument": _instrument,
    "capture_content": _flag,
    "redact": _redact,
    "exporters": _exporters,
    "sampler": _sampler,
}
_TEXT_CHECKS: Final[Mapping[str, _Check]] = {
    "file": _file,
    "endpoint": _endpoint,
    "instrument": _instrument_text,
    "capture_content": _flag_text,
    "redact": _flag_text,
}
