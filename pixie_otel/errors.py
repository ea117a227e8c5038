"""The one family of errors that pixie-otel raises on purpose.

    PixieError
    ├── ConfigError       a flag, a setting, an evaluator reference or a file people wrote is wrong (exit code 2)
    ├── InputError        no trace can be read from what was given (exit code 3)
    ├── MissingExtraError an optional dependency is needed; the message names the pip command (exit code 2)
    ├── ObservationError  a trace does not hold what was asked of it; also a ``ValueError``
    ├── EvaluatorError    an evaluator gave something that is no evaluation
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
