"""Help that can be read in a terminal: options under headings, in plain text, the same with every version of Typer."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

__all__ = ["HelpfulCommand"]

_OTHERS = "Other options"


class HelpfulCommand(TyperCommand):
    """A command whose help lists its options by their ``rich_help_panel``, drawn without rich."""

    # Whether the types are click's or Typer's own copy of them depends on Typer's version.
    def format_usage(self, ctx: Any, formatter: Any) -> None:
        """Write the line that shows how to call it."""
        arguments = [param.metavar for param in self.get_params(ctx) if param.param_type_name == "argument"]
        formatter.write_usage(ctx.command_path, " ".join(["[OPTIONS]", *map(str, arguments)]))

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the options, each group under its heading."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if param.param_type_name == "argument":
                groups.setdefault("Arguments", []).append((str(param.metavar), param.help or ""))
            else:
                title = getattr(param, "rich_help_panel", None) or _OTHERS
                names = ", ".join([*param.opts, *param.secondary_opts])
                metavar = f" {param.metavar}" if param.metavar else ""
                groups.setdefault(title, []).append((f"{names}{metavar}", param.help or ""))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)
