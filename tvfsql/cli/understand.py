"""Commands that show what a script would do, without running it: explain, compile, check."""

from __future__ import annotations

import argparse
import sys

from tvfsql.cli.exits import Exit
from tvfsql.cli.output import Output
from tvfsql.cli.run import analyze
from tvfsql.cli.scripts import outcomes_in, planning_session, statements_of


def explain(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.explain import explain as text_of

    if given.analyze:
        return analyze(given, parser)
    queries = [query for statement in statements_of(given, parser) for query in statement]
    print(text_of(queries, given.stage, given.format))
    return Exit.OK


def compile_to_code(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from tvfsql.api.program import code_of

    code = code_of(statements_of(given, parser))
    with Output(given.output) as out:
        out.write(code)
    return Exit.OK


def check(given: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    session = planning_session(given)
    outcomes = outcomes_in(session, given, parser)
    if session.streams.checkpoint is not None:
        from tvfsql.api.streams.resuming import check_checkpoint

        check_checkpoint(session.streams.checkpoint, outcomes, given.allow_changed_input, sys.stdout)
    print(f"ok: {len(outcomes)} statement{'s' if len(outcomes) != 1 else ''}", file=sys.stderr)
    return Exit.OK
