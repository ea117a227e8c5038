"""The command line as a module: `python -m pixie_otel` is `pixie-otel`."""

import sys

from pixie_otel.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
