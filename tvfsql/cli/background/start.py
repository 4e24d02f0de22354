"""`tvfsql run --detach`: starts a run in the background, and waits until its streams run."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tvfsql.cli.background.figures import streams_in
from tvfsql.cli.background.known import know
from tvfsql.cli.background.runs import LOG, is_alive, is_held
from tvfsql.cli.output import Exit
from tvfsql.errors import DataError, OptionError
from tvfsql.runtime.cluster.files import URL
from tvfsql.runtime.host.status_line import working
from tvfsql.runtime.stream.checkpoint.owner import FILE as OWNER

DETACH = "--detach"
EVERY = 0.2  # seconds between two looks
PATIENCE = 300.0  # the most seconds to wait for the streams: a cluster may take its time
SHOWN = 30  # lines of the log of a run that could not start


def detach(given: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Start a run with the arguments of this one in the background. Returns the exit code of this command."""
    return start(_checkpoint(given), os.getcwd(), [each for each in arguments if each != DETACH])


def _checkpoint(given: argparse.Namespace) -> Path:
    """The checkpoint of a run in the background. Raises OptionError for what such a run cannot have."""
    if given.checkpoint is None:
        raise OptionError("--detach needs a checkpoint, which keeps what runs", hint="--checkpoint DIR")
    if URL.match(given.checkpoint):
        raise OptionError("--detach needs a checkpoint on a disk of this machine", hint="leave out --detach")
    if "-" in given.files:
        raise OptionError("a run in the background cannot read its script from stdin", hint="write it into a file")
    return Path(given.checkpoint).resolve()


def start(checkpoint: Path, folder: str, arguments: Sequence[str]) -> int:
    """Start `tvfsql ARGUMENTS...` in `folder` in the background, and wait until its streams run, or until it has ended.
    Returns the exit code of a command that does so. Raises DataError if it runs already."""
    if is_alive(checkpoint):
        raise DataError(f"{checkpoint} has a run in the background", hint=f"tvfsql stop {checkpoint.name}")
    try:
        checkpoint.mkdir(parents=True, exist_ok=True)
        know(checkpoint)
        with os.fdopen(os.open(checkpoint / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as log:
            begun = log.tell()
            child = subprocess.Popen(
                [sys.executable, "-m", "tvfsql.cli.background.child", str(checkpoint), *arguments],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
    except OSError as error:
        raise DataError(f"{error.filename or checkpoint} cannot be used: {error.strerror}") from error
    until = time.monotonic() + PATIENCE
    with working("starting"):
        while child.poll() is None and not _streams_run(checkpoint) and time.monotonic() < until:
            time.sleep(EVERY)
    return _told(checkpoint, child, begun)


def _streams_run(checkpoint: Path) -> bool:
    return any(is_held(stream / OWNER) for stream in streams_in(checkpoint))


def _told(checkpoint: Path, child: subprocess.Popen[bytes], begun: int) -> int:
    """Print what has become of a run, and return the exit code that says so."""
    code, name = child.poll(), checkpoint.name
    if code is None:
        child.returncode = Exit.OK  # it outlives this process, which is no error
        print(name)
        print(f"process {child.pid}: tvfsql ps, tvfsql logs {name}, tvfsql stop {name}", file=sys.stderr)
        return Exit.OK
    with (checkpoint / LOG).open("rb") as log:
        log.seek(begun)
        lines = log.read().decode(errors="replace").splitlines()
    print(*lines[-SHOWN:], sep="\n", file=sys.stderr)
    if code == Exit.OK:
        print(name)
        print(f"{name} has ended", file=sys.stderr)
    return code
