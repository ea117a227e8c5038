"""The reference of the command line, made of its help.

python -m pixie_otel.cli.reference > cli/REFERENCE.md
"""

from __future__ import annotations

from typing import Any, Final

import typer
from typer.main import get_command

from pixie_otel.cli.main import app

__all__ = ["reference"]

_WIDTH: Final = 80
_HEAD: Final = """\
# The command line

Made of the commands' own `--help` by `python -m pixie_otel.cli.reference > cli/REFERENCE.md`; a test compares the two.
"""


def reference() -> str:
    """Give the help of every command as one Markdown document."""
    group: Any = get_command(app)
    above = typer.Context(group, info_name="pixie-otel", terminal_width=_WIDTH)
    parts = [_HEAD, _section("pixie-otel", group.get_help(above))]
    for name, command in group.commands.items():
        context = typer.Context(command, info_name=name, parent=above, terminal_width=_WIDTH)
        parts.append(_section(f"pixie-otel {name}", command.get_help(context)))
    return "\n".join(parts)


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n```text\n{text.rstrip()}\n```\n"


if __name__ == "__main__":
    print(reference(), end="")
