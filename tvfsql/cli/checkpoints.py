"""Commands over checkpoints: state, rescale."""

from __future__ import annotations

import argparse
import sys

from tvfsql.cli.exits import Exit
from tvfsql.cli.scripts import planning_session
from tvfsql.runtime.stream.inspect import STATE_TABLES


def state(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.answers import APART
    from tvfsql.api.streams.state import show_state

    if given.show == "all" and given.format not in APART:
        parser.error(f"--format {given.format} is for one table: --show {' or '.join(STATE_TABLES)}")
    tables = STATE_TABLES if given.show == "all" else (given.show,)
    session = planning_session(given)
    show_state(lambda: session.spark, given.checkpoint, tables, given.format, sys.stdout)
    return Exit.OK


def rescale(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.streams.state import rescale_streams

    for option, number in (("--tasks", given.tasks), ("--key-groups", given.key_groups)):
        if number is not None and number < 1:
            parser.error(f"{option} must be at least 1")
    if given.tasks is None and given.key_groups is None:
        parser.error("rescale needs --tasks N, --key-groups M, or both")
    session = planning_session(given)
    rescale_streams(lambda: session.spark, given.checkpoint, given.tasks, given.key_groups, sys.stdout)
    return Exit.OK
