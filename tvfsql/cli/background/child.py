"""The process of a run in the background: `python -m tvfsql.cli.background.child CHECKPOINT ARGUMENTS...`.

Its output is the log of the run, in which it writes where a run begins and how it ends.
"""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from tvfsql.cli.background.runs import noted, run_in
from tvfsql.cli.output import Exit
from tvfsql.runtime.host.amounts import duration_text

STOPPED = "stopped by tvfsql stop or a signal; tvfsql restart goes on from here"


def main() -> int:
    checkpoint, *arguments = sys.argv[1:]
    begun = time.time()
    with noted(Path(checkpoint), arguments) as codes:
        run = run_in(Path(checkpoint))
        number = run.pid if run is not None else 0
        _note(begun, f"process {number}: tvfsql {shlex.join(arguments)}")
        from tvfsql.cli import main as run_command

        sys.argv[1:] = arguments  # of the program that people start
        code = 1
        try:
            code = run_command(interrupted=STOPPED)
            codes.append(code)
        finally:
            names: dict[int, str] = {Exit.OK: "ended", Exit.INTERRUPTED: "stopped"}
            how = names.get(code, f"failed with exit code {code}")
            _note(time.time(), f"{how} after {duration_text(round((time.time() - begun) * 1000))}")
    return codes[-1]


def _note(at: float, text: str) -> None:
    """Write a heading into the log, with the time of this machine's clock."""
    sys.stdout.flush()
    print(f"== {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(at))} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
