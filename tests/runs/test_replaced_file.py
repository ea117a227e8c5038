"""Facts about files that are replaced as a whole."""

import stat
from pathlib import Path

import pytest

from pixie_otel.runs.replaced_file import replaced_file


def test_the_file_is_there_when_the_block_ends(tmp_path: Path) -> None:
    """A new file appears with its whole content, for its owner alone."""
    path = tmp_path / "a.json"
    with replaced_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_what_was_there_stays_when_the_block_fails(tmp_path: Path, error: type[BaseException]) -> None:
    """After an error or an interruption the old file is whole, and nothing else is left behind."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")

    def write() -> None:
        with replaced_file(path) as file:
            file.write(b"half of the n")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
