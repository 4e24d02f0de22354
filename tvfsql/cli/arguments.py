"""The arguments of the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tvfsql.cli.set_up import SHELLS
from tvfsql.errors import nearest
from tvfsql.runtime.host.row_formats import FORMATS
from tvfsql.runtime.stream.inspect import STATE_TABLES
from tvfsql.syntax import explain_words

GROUPS = {  # of commands, as --help has them
    "Run": ("run", "peek", "ps", "logs", "stop", "restart", "state", "rescale"),
    "Understand": ("explain", "compile", "check"),
    "Write": ("init", "fmt", "lint", "test", "rewrite", "package", "lsp"),
    "Set up": ("doctor", "completion"),
}
BINARY = ("parquet", "orc", "avro")  # binary formats of results

NAMED = "its name in ps, or its checkpoint"

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction["Parser"]


class Parser(argparse.ArgumentParser):
    """A parser that says which command, option or choice was probably meant."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        choices = [str(choice) for choice in action.choices]
        if isinstance(action, argparse._SubParsersAction):
            script = value.lower().endswith(".sql")
            hint = f"tvfsql run {value}" if script else _meant(value, choices) or "tvfsql --help lists the commands"
            self.error(f"there is no command {value}\nhint: {hint}")
        name = "/".join(action.option_strings) or str(action.metavar or action.dest)
        hint = _meant(value, choices) or f"one of {', '.join(choices)}"
        self.error(f"{name} cannot be {value}\nhint: {hint}")

    def parse_known_args(self, args=None, namespace=None):  # type: ignore[no-untyped-def]
        """Unknown arguments are errors here, where the options of the command are known."""
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            word = unknown[0].partition("=")[0]
            options = {name.lstrip("-"): name for action in self._actions for name in action.option_strings}
            what = "option" if word.startswith("-") else "argument"
            close = nearest(word.lstrip("-"), options) if what == "option" else None
            hint = f"did you mean {options[close]}?" if close else None
            self.error(f"there is no {what} {word}\nhint: {hint or f'{self.prog} --help'}")
        return known, unknown


def _meant(word: str, known: Iterable[str]) -> str | None:
    close = nearest(word, known)
    return f"did you mean {close}?" if close else None


def build_parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    parser = Parser(
        prog="tvfsql",
        description="Flink's window SQL on Spark. Without a command, starts the interactive shell.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the versions of tvfsql, pyspark and sqlglot")
    _common(parser)
    _spark(parser)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", help="one of the commands below")

    run = _command(commands, "run", "run a script and print the rows of each SELECT")
    _script(run)
    run.add_argument("--format", choices=FORMATS, default="table", help="output format of rows (default: table)")
    run.add_argument("--output", metavar="PATH", type=_text_file, help="write the rows to a file instead of stdout")
    run.add_argument(
        "--checkpoint", metavar="DIR", help="folder for the state of streams; the next run resumes from it"
    )
    _allow(run)
    _spark(run, argparse.SUPPRESS)
    run.add_argument(
        "--metrics", metavar="FILE", help="append the metrics of streams to a file, one line of JSON per micro-batch"
    )
    of_port = "serve the metrics of streams for Prometheus on this port of the loopback interface"
    run.add_argument("--metrics-port", metavar="PORT", type=int, help=of_port)
    of_events = "send events of OpenLineage about INSERTs to a URL, or add them to a file"
    run.add_argument("--openlineage", metavar="URL|FILE", help=of_events)
    of_ui = "serve a page of the plans and the running streams on this machine; its address is printed"
    run.add_argument("--ui", action="store_true", help=of_ui)
    of_detach = "run in the background, over a --checkpoint; returns when the streams run (see ps, logs, stop, restart)"
    run.add_argument("--detach", action="store_true", help=of_detach)
    of_final = "with --checkpoint: fire the windows that are still open at the end, and let no later run add rows"
    run.add_argument("--final", action="store_true", help=of_final)

    of_peek = "show the first rows of a table, a file or a topic, with the types of its columns"
    peek = _command(commands, "peek", of_peek)
    of_source = "a table of the scripts of -i, a file of CSV, JSON or Parquet, or kafka://HOST:PORT/TOPIC"
    peek.add_argument("source", metavar="TABLE|FILE|TOPIC", help=of_source)
    peek.add_argument("-n", metavar="ROWS", type=_number, default=10, help="how many rows (default: 10)")
    peek.add_argument("--format", choices=FORMATS, default="table", help="output format of rows (default: table)")
    _common(peek, argparse.SUPPRESS)
    _spark(peek, argparse.SUPPRESS)

    ps = _command(commands, "ps", "list the runs in the background: state, rows per second, lag, late rows")
    of_checkpoints = "other checkpoints of this machine (default: those of run --detach)"
    ps.add_argument("checkpoints", metavar="CHECKPOINT", nargs="*", help=of_checkpoints)
    ps.add_argument("--format", choices=FORMATS, default="table", help="output format (default: table)")
    logs = _command(commands, "logs", "print what a run in the background has printed")
    logs.add_argument("name", metavar="NAME", help=NAMED)
    logs.add_argument("-n", metavar="LINES", type=_number, default=50, help="the last lines (default: 50)")
    logs.add_argument("-f", dest="follow", action="store_true", help="go on until the run ends")
    stop = _command(commands, "stop", "stop runs in the background after their micro-batch")
    stop.add_argument("--now", action="store_true", help="do not wait for it; the next run repeats it")
    restart = _command(commands, "restart", "start runs in the background again, after they have stopped")
    for each in (stop, restart):
        each.add_argument("names", metavar="NAME", nargs="+", help=NAMED)
        of_timeout = "how long to wait for the end of the micro-batch (default: 120)"
        each.add_argument("--timeout", metavar="SECONDS", type=_number, default=120, help=of_timeout)

    explain = _command(commands, "explain", "print the plans of a script's queries; starts Java with --analyze only")
    explain.epilog = "A page for the browser: tvfsql explain FILE --format html > plan.html"
    _script(explain)
    of_stage = "what to print (default: plan, the physical plan and what each operator does)"
    explain.add_argument("--stage", choices=explain_words.STAGES, default=explain_words.PLAN, help=of_stage)
    of_analyze = "run each SELECT and print what its operators did: rows, time, shuffle, spill, state, skew"
    explain.add_argument("--analyze", action="store_true", help=of_analyze)
    explain.add_argument(
        "--format",
        choices=explain_words.FORMATS,
        default="text",
        help="output format (default: text); html: a page with the plan as a picture",
    )
    _spark(explain, argparse.SUPPRESS)

    compiled = _command(commands, "compile", "print the PySpark program of a script's queries; does not start Java")
    _script(compiled)
    of_target = "program: PySpark, run as a script; sdp: a declarative pipeline for spark-pipelines (default: program)"
    compiled.add_argument("--target", choices=("program", "sdp"), default="program", help=of_target)
    of_output = "write it to a file instead of stdout; of a pipeline the folder, with its spark-pipeline.yml"
    compiled.add_argument("-o", metavar="FILE", dest="output", help=of_output)

    package = _command(commands, "package", "write a folder that spark-submit runs on a cluster; does not start Java")
    _script(package)
    package.add_argument("-o", metavar="DIR", dest="output", required=True, help="the folder")
    package.add_argument("--checkpoint", metavar="DIR", help="where its streams keep their state")

    check = _command(commands, "check", "parse and bind only; does not start Java")
    _script(check)
    check.add_argument(
        "--checkpoint", metavar="DIR", help="also say whether the streams can resume from this checkpoint"
    )
    _allow(check)
    _spark(check, argparse.SUPPRESS)
    _texts(_command(commands, "rewrite", "convert GROUP BY TUMBLE(...) to window functions"))

    fmt = _command(commands, "fmt", "format scripts in place: blanks, line ends and the case of keywords")
    fmt.add_argument("files", nargs="+", metavar="FILE", help="a script; - reads stdin and writes stdout")
    of_check = "only name the scripts that are not formatted, and exit with 1"
    fmt.add_argument("--check", action="store_true", help=of_check)

    lint = _command(commands, "lint", "warn about SQL that is valid but probably a mistake; does not start Java")
    _script(lint)
    lint.add_argument("--ignore", metavar="RULE", action="append", help="suppress this rule; repeatable")
    lint.add_argument("--strict", action="store_true", help="exit with 1 if there are warnings")
    lint.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")

    state = _command(commands, "state", "show the state of the streams in a checkpoint; only reads")
    state.add_argument("checkpoint", metavar="CHECKPOINT", help="the folder passed to run --checkpoint")
    tables = (*STATE_TABLES, "all")
    state.add_argument("--show", choices=tables, default="all", help="which table to print (default: all)")
    state.add_argument("--format", choices=FORMATS, default="table", help="output format (default: table)")

    _spark(state, argparse.SUPPRESS)

    rescale = _command(commands, "rescale", "change the number of tasks and key groups of stopped streams")
    rescale.add_argument("checkpoint", metavar="CHECKPOINT", help="the folder passed to run --checkpoint")
    rescale.add_argument("--tasks", metavar="N", type=int, help="how many tasks share the state")
    parts = "into how many key groups the state is divided, at least N"
    rescale.add_argument("--key-groups", metavar="M", type=int, help=parts)
    _spark(rescale, argparse.SUPPRESS)

    test = _command(commands, "test", "test scripts with simulated time: run the *.tvfsql.yaml files")
    test.add_argument("paths", nargs="*", metavar="PATH", help="a test file or a folder (default: the current folder)")
    test.add_argument("-k", metavar="TEXT", dest="only", help="only run tests whose names contain this text")
    test.add_argument(
        "--update", action="store_true", help="write the emitted rows into the files as the expected ones"
    )

    of_lsp = "serve an editor on stdin and stdout: errors, completion, types, layout; does not start Java"
    _common(_command(commands, "lsp", of_lsp), argparse.SUPPRESS)

    doctor = _command(commands, "doctor", "check Java, Python, Spark and packages, and say what to do")
    of_folder = "with a cluster: a folder that all its machines must see"
    doctor.add_argument("--checkpoint", metavar="DIR", help=of_folder)
    _spark(doctor, argparse.SUPPRESS)
    init = _command(
        commands, "init", "make a small project: a table, a script, its data and a test; or a script over a file"
    )
    init.add_argument(
        "folder",
        metavar="FOLDER|FILE",
        nargs="?",
        default=".",
        help="where (default: here); or a file of CSV, JSON or Parquet",
    )
    completion = _command(commands, "completion", "print a script that completes commands and options in a shell")
    completion.add_argument("shell", choices=SHELLS, help="source <(tvfsql completion bash)")
    parser.epilog = _grouped(commands.choices)
    return parser


def _grouped(commands: Mapping[str, argparse.ArgumentParser]) -> str:
    """The commands in groups, each with its summary."""
    lines = []
    for title, names in GROUPS.items():
        lines += [f"{title}:", *(f"  {name:<12}{commands[name].description}" for name in names), ""]
    return "\n".join([*lines, "tvfsql COMMAND --help shows the options of a command."])


def _command(commands: Commands, name: str, summary: str) -> argparse.ArgumentParser:
    """Add a command. Its summary appears in the list of commands and in its own help."""
    return commands.add_parser(name, description=f"{summary[0].upper()}{summary[1:]}.")


def _common(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Options that are valid before and after a command. After it, `default=SUPPRESS` keeps the value from before."""
    modes = ("batch", "streaming")
    of_mode = "plan for batch or for streams (default: streaming only if a source is unbounded)"
    of_set = "set an option, as SET does; repeatable"
    of_init = "run this script first; a command that runs nothing only reads its definitions; repeatable"
    parser.add_argument("--mode", choices=modes, default=default, help=of_mode)
    parser.add_argument("--set", metavar="KEY=VALUE", type=_pair, action="append", default=default, help=of_set)
    of_param = "give a parameter that a script declares a value; repeatable"
    parser.add_argument("--param", metavar="NAME=VALUE", type=_pair, action="append", default=default, help=of_param)
    parser.add_argument("-i", metavar="INIT.sql", dest="init", action="append", default=default, help=of_init)


def _spark(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Which Spark; valid in the same places."""
    where = parser.add_mutually_exclusive_group()
    of_master = "the cluster to run on, such as spark://HOST:7077, yarn or k8s://... (default: this machine)"
    where.add_argument("--master", metavar="URL", default=default, help=of_master)
    of_remote = "the Spark Connect server to run on, such as sc://HOST:15002"
    where.add_argument("--remote", metavar="URL", default=default, help=of_remote)
    of_conf = "give Spark a setting, as SET 'spark....' does; repeatable"
    parser.add_argument("--conf", metavar="KEY=VALUE", type=_setting, action="append", default=default, help=of_conf)


def _allow(parser: argparse.ArgumentParser) -> None:
    of_input = (
        "resume from a checkpoint even if open windows will mix results of the old and the new query, as after a change"
        " of WHERE, or with new aggregates or tables"
    )
    of_start = "where streams start: RESUME, FROM_BEGINNING, FROM_NOW, FROM_TIMESTAMP(...), RESUME_OR_FROM_..."
    parser.add_argument("--start-mode", metavar="MODE", help=of_start)
    parser.add_argument("--allow-changed-input", action="store_true", help=of_input)


def _pair(text: str) -> str:
    """Check for text of the form key=value."""
    key, equals, _ = text.partition("=")
    if not equals or not key.strip():
        raise argparse.ArgumentTypeError(f"must be KEY=VALUE, not {text}")
    return text


def _number(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"must be a number, not {text}")
    return int(text)


def _setting(text: str) -> str:
    """A pair whose key is one of Spark's."""
    if not text.strip().startswith("spark."):
        raise argparse.ArgumentTypeError(f"must be spark.KEY=VALUE, not {text}; --set takes options of tvfsql")
    return _pair(text)


def _text_file(path: str) -> str:
    """Check that the name of a path does not imply a binary format."""
    form = path.rpartition(".")[2].lower()
    if form in BINARY:
        raise argparse.ArgumentTypeError(
            f"rows are written as text; for {form}, INSERT INTO a table with 'format' = '{form}'"
        )
    return path


def _script(parser: argparse.ArgumentParser) -> None:
    """Scripts, and the session in which they are read."""
    _texts(parser)
    _common(parser, argparse.SUPPRESS)


def _texts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help="a script; - reads stdin")
    parser.add_argument("-e", metavar="SQL", dest="sql", action="append", help="a script as text; repeatable")
