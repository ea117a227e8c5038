"""Which error ends the command with which code."""

from __future__ import annotations

import pytest

from pixie_otel.cli.exit_codes import exit_code_of
from pixie_otel.errors import ConfigError, EvaluatorError, InputError, MissingExtraError, PixieError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("a flag"), 2),
        (MissingExtraError("zstd", "zstd"), 2),
        (InputError("a file"), 3),
        (EvaluatorError("a score"), 4),
        (PixieError("a full disk"), 4),
    ],
)
def test_each_has_its_code(error: Exception, code: int) -> None:
    """What people wrote is 2, what cannot be read is 3, and whatever else kept a run from being whole is 4."""
    assert exit_code_of(error) == code
