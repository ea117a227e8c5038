"""The command line: `main` and one module per command, the only part that prints and exits."""
