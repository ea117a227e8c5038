"""The command: its parts, and the only place where errors become messages and exit codes."""
