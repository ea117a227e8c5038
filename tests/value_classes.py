"""Classes of values as applications have them; what no instrumentation may run in them is a trap."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, NamedTuple

import attrs
import msgspec
import pydantic
from traps import touched

__all__ = [
    "Access",
    "Attrs",
    "Colour",
    "Lazy",
    "Level",
    "Mapped",
    "Mode",
    "Model",
    "Plain",
    "Point",
    "Slotted",
    "Struct",
    "Wrapped",
]


class Lazy:
    """Loads what it holds when somebody looks, as an object of a database does."""

    def __getattr__(self, name: str) -> Any:
        touched(f"Lazy.{name}")
        raise AttributeError(name)

    @property
    def rows(self) -> list[int]:
        """The rows, from far away."""
        touched("Lazy.rows")
        return [1]


class _Column:
    """Answers for an attribute of its owner, as a column of an ORM does."""

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        touched("Column.__get__")
        return self

    def __set__(self, instance: object, value: object) -> None:
        touched("Column.__set__")


class Colour(enum.Enum):
    """A plain enum."""

    RED = "red"
    TWO = 2
    BOTH = ("red", 2)


class Level(enum.IntEnum):
    """An enum of numbers."""

    LOW = 1


class Mode(enum.StrEnum):
    """An enum of texts."""

    FAST = "fast"


class Access(enum.Flag):
    """An enum of bits."""

    READ = 1
    WRITE = 2


class Point(NamedTuple):
    """A tuple with names."""

    x: Any
    y: Any


@dataclasses.dataclass
class Plain:
    """A dataclass with a field that its author hides."""

    a: Any
    b: Any = dataclasses.field(default=None, repr=False)

    @property
    def c(self) -> int:
        """What is computed."""
        touched("Plain.c")
        return 1


@dataclasses.dataclass(slots=True, frozen=True)
class Slotted:
    """A dataclass without a dictionary."""

    a: Any


class Mapped(Plain):
    """A dataclass whose fields an ORM answers for."""

    a = _Column()  # type: ignore[assignment]


@attrs.define
class Attrs:
    """A class made by attrs."""

    a: Any
    b: Any = attrs.field(default=1, repr=False)


class Struct(msgspec.Struct):
    """A class made by msgspec."""

    a: Any
    b: Any = msgspec.UNSET


class Model(pydantic.BaseModel):
    """A class made by pydantic, with most of what makes code run."""

    model_config = pydantic.ConfigDict(extra="allow", arbitrary_types_allowed=True)

    a: Any
    b: pydantic.SecretStr = pydantic.SecretStr("hunter2")
    c: Any = None

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def computed(self) -> int:
        """What is computed."""
        touched("Model.computed")
        return 1

    @pydantic.model_serializer(mode="wrap")
    def _serialise(self, handler: Any) -> Any:
        touched("Model.serialise")
        return handler(self)

    def __repr__(self) -> str:
        touched("Model.__repr__")
        return "Model()"

    def __eq__(self, other: object) -> bool:
        touched("Model.__eq__")
        return self is other

    def __hash__(self) -> int:
        touched("Model.__hash__")
        return 1


class Wrapped(pydantic.RootModel[list[int]]):
    """A model that is one value."""
