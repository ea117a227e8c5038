"""Help that can be read in a terminal: options under headings, in plain text, the same with every version of Typer."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["HelpfulCommand", "HelpfulGroup"]

_OTHERS = "Other options"


# Whether their types are click's or Typer's own copy of them depends on Typer's version, hence `Any`.
class HelpfulCommand(TyperCommand):
    """A command whose help lists its options by their ``rich_help_panel``, drawn without rich."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        """Write the line that shows how to call it."""
        params: list[Any] = list(self.get_params(ctx))
        arguments = [param.metavar for param in params if param.param_type_name == "argument"]
        formatter.write_usage(ctx.command_path, " ".join(["[OPTIONS]", *arguments]))

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        """Write the arguments and the options, each group under its heading."""
        _write_params(list(self.get_params(ctx)), formatter, _OTHERS)


class HelpfulGroup(TyperGroup):
    """The same for what has commands."""

    def format_usage(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        """Write the line that shows how to call it."""
        formatter.write_usage(ctx.command_path, "COMMAND [OPTIONS]")

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - see above
        """Write the commands, then the options."""
        self.format_commands(ctx, formatter)
        _write_params(list(self.get_params(ctx)), formatter, "Options")


def _write_params(params: list[Any], formatter: Any, default_title: str) -> None:  # noqa: ANN401 - see above
    groups: dict[str, list[tuple[str, str]]] = {}
    for param in params:
        if param.param_type_name == "argument":
            groups.setdefault("Arguments", []).append((param.metavar, param.help or ""))
        else:
            title = getattr(param, "rich_help_panel", None) or default_title
            names = ", ".join([*param.opts, *param.secondary_opts])
            metavar = "" if param.is_flag or not param.metavar else f" {param.metavar}"
            groups.setdefault(title, []).append((f"{names}{metavar}", param.help or ""))
    for title, rows in groups.items():
        with formatter.section(title):
            formatter.write_dl(rows)
