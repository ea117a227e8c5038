"""The one family of errors that pixie-otel raises on purpose.

    PixieError
    ├── ConfigError       a flag, a setting, an evaluator reference or a file people wrote is wrong (exit code 2)
    ├── InputError        no trace can be read from what was given (exit code 3)
    ├── MissingExtraError an optional dependency is needed; the message names the pip command (exit code 2)
    ├── ObservationError  a trace does not hold what was asked of it; also a ``ValueError``
    ├── EvaluatorError    an evaluator gave something that is no evaluation
    ├── WrapRegistryMissError  a recorded input that `wrap` should inject is not there; also a ``KeyError``
    ├── WrapTypeMismatchError  a recorded input cannot be rebuilt to its type; also a ``TypeError``
    └── SkipEvaluation    raised by an evaluator to say that it does not apply to a case

They live in a module of their own so that every part can raise and catch them without importing the others.
"""

from __future__ import annotations

__all__ = [
    "ConfigError",
    "EvaluatorError",
    "InputError",
    "MissingExtraError",
    "ObservationError",
    "PixieError",
    "SkipEvaluation",
    "WrapRegistryMissError",
    "WrapTypeMismatchError",
]


class PixieError(Exception):
    """Base of every error that pixie-otel raises on purpose."""


class ConfigError(PixieError):
    """What the user set or wrote cannot be used: a flag, a setting, a reference, an expectations file."""


class InputError(PixieError):
    """Nothing can be read from what was given: a missing path, a device, a file that is no trace file."""


class MissingExtraError(ConfigError):
    """An optional dependency is not installed.

    Args:
        purpose: What needs it, as a user would say it.
        extra: The extra of the ``pixie-otel`` distribution that brings it.
    """

    def __init__(self, purpose: str, extra: str) -> None:
        super().__init__(f"{purpose} needs an optional dependency: pip install 'pixie-otel[{extra}]'")
        self.extra = extra


class ObservationError(PixieError, ValueError):
    """A trace does not hold what was asked of it; the message says what it does hold."""


class EvaluatorError(PixieError):
    """An evaluator returned something that is no evaluation, or could not be called."""


class SkipEvaluation(PixieError):  # noqa: N818 - it is no error, as pytest's Skipped is none
    """Raise it in an evaluator that does not apply to a case: the outcome is ``skipped``, for the reason given."""


class WrapRegistryMissError(PixieError, KeyError):
    """The inputs that are replayed hold no value for a ``wrap(purpose="input")``.

    Args:
        name: The name that was asked for.
        known: The names that there are.
    """

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        there = ", ".join(map(repr, known)) or "none at all"
        super().__init__(
            f'wrap(purpose="input", name={name!r}): no recorded value has this name; there are {there}. '
            "Add it to the entry's eval_input, or correct the name."
        )
        self.name = name
        self.known = known

    def __str__(self) -> str:
        """Give the message itself; a ``KeyError`` would give its ``repr``."""
        return str(self.args[0])

    def __reduce__(self) -> tuple[type[WrapRegistryMissError], tuple[str, tuple[str, ...]]]:
        """Pickle what the error was made of, so that it survives the way back from a worker process."""
        return type(self), (self.name, self.known)


class WrapTypeMismatchError(PixieError, TypeError):
    """A replayed input cannot be rebuilt to the type that the application works with.

    Args:
        name: The name of the ``wrap``.
        expected: The type, as a reader would write it.
        reason: What was there instead, or why it does not fit.
    """

    def __init__(self, name: str, expected: str, reason: str) -> None:
        super().__init__(
            f'wrap(purpose="input", name={name!r}): the recorded value cannot become {expected}: {reason}. '
            "Correct the entry's eval_input, or give wrap(…, type=…)."
        )
        self.name = name
        self.expected = expected
        self.reason = reason

    def __reduce__(self) -> tuple[type[WrapTypeMismatchError], tuple[str, str, str]]:
        """Pickle what the error was made of."""
        return type(self), (self.name, self.expected, self.reason)
