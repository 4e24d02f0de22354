"""The process of a run in the background: `python -m tvfsql.cli.background.child CHECKPOINT ARGUMENTS...`."""

from __future__ import annotations

import sys
from pathlib import Path

from tvfsql.cli.background.runs import noted


def main() -> int:
    checkpoint, *arguments = sys.argv[1:]
    from tvfsql.cli import main as run

    with noted(Path(checkpoint), arguments) as codes:
        sys.argv[1:] = arguments  # of the program that people start
        codes.append(run())
    return codes[-1]


if __name__ == "__main__":
    sys.exit(main())
