"""The arguments of the command line."""

from __future__ import annotations

import argparse

from tvfsql.options import EXPLAIN_FORMATS, STAGES, STATE_TABLES
from tvfsql.runtime.formats import FORMATS


def build_parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = argparse.ArgumentParser(
        prog="tvfsql", description="Flink's window SQL on Spark. Without a command: a shell."
    )
    _common(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    run = commands.add_parser("run", help="run a script; rows of each SELECT go to stdout")
    _script(run)
    run.add_argument("--format", choices=FORMATS, default="table", help="how rows are printed (default: table)")
    run.add_argument("--output", metavar="PATH", help="write the rows to a file instead of stdout")
    run.add_argument("--checkpoint", metavar="DIR", help="where a stream keeps its state, to go on from there")
    run.add_argument("--no-flush", action="store_true", help="leave a stream's last windows open in the checkpoint")

    explain = commands.add_parser("explain", help="show the plans of a script's queries; starts no JVM")
    _script(explain)
    explain.add_argument("--stage", choices=STAGES, default="all", help="which stage (default: all)")
    explain.add_argument("--format", choices=EXPLAIN_FORMATS, default="text", help="how it is shown (default: text)")

    compiled = commands.add_parser("compile", help="print the PySpark program of a script's queries; starts no JVM")
    _script(compiled)
    compiled.add_argument("-o", metavar="FILE", dest="output", help="write it to a file instead of stdout")

    check = commands.add_parser("check", help="parse and bind only; starts no JVM")
    _script(check)

    rewrite = commands.add_parser("rewrite", help="print a script with GROUP BY TUMBLE(...) as window functions")
    _script(rewrite)

    state = commands.add_parser("state", help="what the streams over a checkpoint hold; reads only")
    state.add_argument("checkpoint", metavar="CHECKPOINT", help="the folder that run --checkpoint was given")
    state.add_argument("--show", choices=(*STATE_TABLES, "all"), default="all", help="which table (default: all)")
    state.add_argument("--format", choices=FORMATS, default="table", help="how it is printed (default: table)")

    commands.add_parser("doctor", help="what of Java, Python, Spark and packages is found, and what to do")
    return parser


def _common(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """The options that stand before a command or after it; after it, SUPPRESS keeps what stood before."""
    modes = ("batch", "streaming")
    help_of_mode = "default: streaming only if a source has no end"
    parser.add_argument("--mode", choices=modes, default=default, help=help_of_mode)
    parser.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=default, help="set an option, as SET does"
    )
    parser.add_argument("-i", metavar="INIT.sql", dest="init", action="append", default=default, help="run it first")


def _script(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a script; - is stdin")
    parser.add_argument("-e", metavar="SQL", dest="sql", action="append", help="a script as text")
    _common(parser, argparse.SUPPRESS)
