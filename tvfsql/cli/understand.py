"""Commands that show what a script would do, without running it: explain, compile, check."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tvfsql.cli.output import Exit, Output
from tvfsql.cli.run import analyze
from tvfsql.cli.scripts import outcomes_in, planning_session, statements_of
from tvfsql.runtime.stream.inspect import STATE_TABLES


def explain(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.explain import explain as text_of

    if given.analyze:
        return analyze(given, parser)
    queries = [query for statement in statements_of(given, parser) for query in statement]
    print(text_of(queries, given.stage, given.format))
    return Exit.OK


def compile_to_code(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.program import code_of

    if given.target == "sdp":
        from tvfsql.api.targets.pipeline import write_pipeline
        from tvfsql.options.known import REUSE

        given.set = [f"{REUSE.key}=false", *(given.set or ())]
        name = Path(given.files[0]).stem if given.files and given.files[0] != "-" else "pipeline"
        return write_pipeline(given.output, statements_of(given, parser), name)
    code = code_of(statements_of(given, parser))
    with Output(given.output) as out:
        out.write(code)
    return Exit.OK


def check(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    session = planning_session(given)
    outcomes = outcomes_in(session, given, parser)
    if session.streams.checkpoint is not None:
        from tvfsql.api.streams.state import check_checkpoint

        check_checkpoint(session.streams.checkpoint, outcomes, given.allow_changed_input, sys.stdout)
    print(f"ok: {len(outcomes)} statement{'s' if len(outcomes) != 1 else ''}", file=sys.stderr)
    return Exit.OK


# Commands over checkpoints: state, rescale.


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
