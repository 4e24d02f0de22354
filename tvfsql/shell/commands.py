"""The commands of the shell in one table, which help, completion and the shell itself read."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tvfsql.errors import BindError, DataError, OptionError, did_you_mean, nearest
from tvfsql.runtime.host.row_formats import FORMATS
from tvfsql.shell.pager import page, pager
from tvfsql.shell.state import Shell
from tvfsql.syntax.explain_words import PLAN, STAGES

ON, OFF, AUTO = "on", "off", "auto"


@dataclass(frozen=True)
class Command:
    """`names`: the names to type; help shows the first one. `takes`: the kind of completion of its argument."""

    names: tuple[str, ...]
    usage: str
    summary: str
    run: Callable[[Shell, str], None]
    takes: str = ""


def run_command(shell: Shell, line: str) -> None:
    """Run a line that is a command. Raises TvfSqlError, for example for an unknown command."""
    name, _, argument = line.strip().rstrip("; ").partition(" ")
    command = BY_NAME.get(name.lower())
    if command is None:
        close = nearest(name, BY_NAME, 0.7)
        raise BindError(f"there is no command {name}", hint=f"did you mean {close}?" if close else "\\? lists them")
    command.run(shell, argument.strip())


def _help(shell: Shell, _: str) -> None:
    from tvfsql.syntax.parser import STATEMENTS

    width = max(len(f"{each.names[0]} {each.usage}") for each in COMMANDS)
    lines = []
    for each in COMMANDS:
        others = f"  (also {', '.join(each.names[1:])})" if each.names[1:] else ""
        lines.append(f"  {f'{each.names[0]} {each.usage}':<{width}}  {each.summary}{others}")
    lines += ["", "Statements end with a semicolon: SELECT, INSERT, CREATE, EXPLAIN and"]
    lines += [f"  {text}" for text in STATEMENTS.values()]
    lines += ["", "The view _ is the last query: SELECT COUNT(*) FROM _;"]
    lines.append("Keys: Tab completes, Ctrl-R searches the history, Ctrl-X Ctrl-E opens the editor,")
    lines.append("Alt-Enter breaks a line, Ctrl-C cancels, Ctrl-D discards an unfinished statement or leaves.")
    text = "".join(f"{line}\n" for line in lines)
    if command := shell.pager_for(text):
        page(text, command)
    else:
        print(text, end="")


def _describe(shell: Shell, name: str) -> None:
    if name:
        shell.run(f"DESCRIBE {_quoted(name)};")
    else:
        _list(shell, "", ("table", "view"))


def _list(shell: Shell, part: str, kinds: Sequence[str]) -> None:
    rows = []
    for name, entry in sorted(shell.session.catalog.entries.items()):
        kind = type(entry).__name__.lower()
        connector = getattr(entry, "connector", None)
        if kind in kinds and part.lower() in name.lower():
            rows.append((name, kind, connector.name if connector else None))
    _show(shell, ("name", "kind", "connector"), rows)


def _functions(shell: Shell, part: str) -> None:
    from tvfsql.shell.functions import calls

    users = shell.session.catalog.functions.values()
    rows = [(call.text, call.result) for call in calls(users) if part.lower() in call.text.lower()]
    _show(shell, ("function", "result"), rows)


def _rules(shell: Shell, part: str) -> None:
    from tvfsql.options.known import DISABLED_RULES
    from tvfsql.rules import PHASES

    disabled = shell.session.options[DISABLED_RULES]
    rows = [
        (phase.name, rule.name, "off" if rule.name in disabled else "on", rule.doc.strip().splitlines()[0])
        for phase in PHASES
        for rule in phase.rules
        if part.lower() in f"{phase.name} {rule.name}"
    ]
    _show(shell, ("phase", "rule", "state", "effect"), rows)


def _show(shell: Shell, columns: tuple[str, ...], rows: Sequence[tuple[str | None, ...]]) -> None:
    from tvfsql.api.listings import Listing

    shell.give(Listing(columns, tuple(rows)))


def _explain(shell: Shell, argument: str) -> None:
    stage, _, query = argument.partition(" ")
    if stage.lower() not in STAGES:
        stage, query = PLAN, argument
    query = query.strip() or shell.last
    if not query:
        raise BindError("there is no last query to explain", hint="\\explain physical SELECT ...")
    shell.run(f"EXPLAIN {stage} {query};")


def _timing(shell: Shell, word: str) -> None:
    shell.settings.timing = _chosen(word, (ON, OFF), OFF if shell.settings.timing else ON) == ON
    shell.note(f"timing is {ON if shell.settings.timing else OFF}")


def _expanded(shell: Shell, word: str) -> None:
    shell.settings.expanded = _chosen(word, (ON, OFF, AUTO), OFF if shell.settings.expanded == ON else ON)
    shell.note(f"one value per line: {shell.settings.expanded}")


def _format(shell: Shell, word: str) -> None:
    if word:
        shell.settings.format = _chosen(word, tuple(FORMATS), "table")
    shell.note(f"format is {shell.settings.format}")


def _limit(shell: Shell, word: str) -> None:
    if word and not word.isdigit():
        raise OptionError(f"a limit is a number of rows, not {word}", hint="\\limit 1000, or \\limit 0 for all rows")
    shell.settings.limit = int(word) if word else shell.settings.limit
    shell.note(f"results show {f'{shell.settings.limit} rows' if shell.settings.limit else 'all rows'}")


def _null(shell: Shell, word: str) -> None:
    shell.settings.null = word or "NULL"
    shell.note(f"NULL is shown as {shell.settings.null}")


def _pager(shell: Shell, word: str) -> None:
    shell.settings.pager = _chosen(word, (ON, OFF, AUTO), shell.settings.pager)
    command = pager()
    shell.note(f"pager: {shell.settings.pager}" + (f", {shlex.join(command)}" if command else ", none is installed"))


def _keys(shell: Shell, word: str) -> None:
    shell.settings.keys = _chosen(word, ("emacs", "vi"), shell.settings.keys)
    shell.note(f"keys are those of {shell.settings.keys}")


def _chosen(word: str, words: Sequence[str], otherwise: str) -> str:
    if word and word.lower() not in words:
        raise OptionError(f"there is no choice {word}", hint=did_you_mean(word, words, otherwise="one of: "))
    return word.lower() or otherwise


def _output(shell: Shell, path: str) -> None:
    shell.redirect(os.path.expanduser(path) or None)
    shell.note(f"results go to {path or 'the screen'}")


def _read(shell: Shell, path: str) -> None:
    if not path:
        raise DataError("a file name is missing", hint="\\i script.sql")
    if not shell.run_file(os.path.expanduser(path)):
        shell.failed = True


def _watch(shell: Shell, word: str) -> None:
    """Run the last query repeatedly until Ctrl-C."""
    try:
        pause = float(word or 2)
    except ValueError:
        pause = 0.0
    if not 0 < pause < 1e6:
        raise OptionError(f"\\watch takes seconds, not {word}", hint="\\watch 5")
    if not shell.last:
        raise BindError("there is no last query to watch", hint="SELECT ...; then \\watch 5")
    paged, shell.settings.pager = shell.settings.pager, OFF
    try:
        while True:
            shell.note(time.strftime("%H:%M:%S"))
            if not shell.run(f"{shell.last};", again=True):
                return
            time.sleep(pause)
    except KeyboardInterrupt:
        shell.note("no longer watched")
    finally:
        shell.settings.pager = paged


def _chart(shell: Shell, argument: str) -> None:
    """Run the last query again and draw its result; a stream is drawn while it runs."""
    from tvfsql.charts import read_chart

    if not shell.last:
        raise BindError("there is no last query to draw", hint="SELECT ...; then \\chart")
    shell.chart = read_chart(argument)
    try:
        shell.run(f"{shell.last};", again=True)
    finally:
        shell.chart = None


def _set(shell: Shell, argument: str) -> None:
    key, _, value = argument.replace("=", " ", 1).partition(" ")
    if not key:
        shell.run("SET;")
        return
    key, value = key.strip("'"), value.strip().strip("'").replace("'", "''")
    if not value:
        listed = dict(shell.session.options.listed())
        if key in listed:
            _show(shell, ("key", "value"), [(key, listed[key])])
            return
    shell.run(f"SET '{key}' = '{value}';")


def _edit(shell: Shell, path: str) -> None:
    """Open the last query, or a file, in an editor. The saved text is put on the next prompt."""
    if not shell.terminal:
        raise BindError("\\e needs a terminal")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    file = Path(os.path.expanduser(path)) if path else None
    with tempfile.TemporaryDirectory(prefix="tvfsql-") as folder:
        target = file or Path(folder, "query.sql")
        if file is None:
            target.write_text(f"{shell.last};\n" if shell.last else "", encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(target)], check=False)
            text = target.read_text(encoding="utf-8") if done.returncode == 0 else ""
        except (OSError, ValueError) as error:
            raise DataError(f"the editor {editor} did not work: {error}", hint="EDITOR=nano tvfsql") from error
    shell.text = text.strip()


def _clear(shell: Shell, _: str) -> None:
    if shell.terminal:
        sys.stdout.write("\x1b[2J\x1b[H")
        sys.stdout.flush()


def _quit(shell: Shell, _: str) -> None:
    shell.ended = True


def _quoted(name: str) -> str:
    return f"`{name.strip('`').replace('`', '``')}`"


COMMANDS = (
    Command(("\\?", "\\help", ".help", "help"), "", "list the commands", _help),
    Command(("\\d", ".schema"), "[TABLE]", "list tables and views, or the columns of one", _describe, "table"),
    Command(("\\dt", ".tables"), "[PART]", "list tables", lambda shell, part: _list(shell, part, ("table",))),
    Command(("\\dv",), "[PART]", "list views", lambda shell, part: _list(shell, part, ("view",))),
    Command(("\\df", ".functions"), "[PART]", "list functions with their arguments", _functions),
    Command(("\\explain",), "[STAGE] [QUERY]", "explain a query, or the last one", _explain, "stage"),
    Command(("\\rules",), "[PART]", "list the planner's rules", _rules),
    Command(("\\set",), "[KEY [VALUE]]", "set an option, as SET does", _set, "option"),
    Command(("\\format", ".mode"), "[FORMAT]", "output format: " + ", ".join(FORMATS), _format, "format"),
    Command(("\\x",), "[on|off|auto]", "one value per line; auto: if rows are too wide", _expanded, "expanded"),
    Command(("\\limit", ".maxrows"), "[ROWS]", "the number of rows shown of a result; 0: all", _limit),
    Command(("\\null", ".nullvalue"), "[TEXT]", "the text for NULL", _null),
    Command(("\\pager",), "[on|off|auto]", "a pager; auto: for results longer than the screen", _pager, "expanded"),
    Command(("\\timing", ".timer"), "[on|off]", "show the time of each statement", _timing, "switch"),
    Command(("\\o", ".output"), "[FILE]", "write results to a file, or to the screen again", _output, "file"),
    Command(("\\i", ".read"), "FILE", "run a script", _read, "file"),
    Command(("\\e", ".edit"), "[FILE]", "edit the last query, or a file, in $EDITOR", _edit, "file"),
    Command(("\\watch",), "[SECONDS]", "run the last query again and again, until Ctrl-C", _watch),
    Command(("\\chart",), "[lines|bars] [VALUE ...] [BY COLUMN]", "draw the last query", _chart, "chart"),
    Command(("\\keys",), "[emacs|vi]", "choose the keys of the editor", _keys, "keys"),
    Command(("\\clear", "clear"), "", "clear the screen", _clear),
    Command(("\\q", ".quit", ".exit", "quit", "exit"), "", "leave", _quit),
)
BY_NAME = {name: command for command in COMMANDS for name in command.names}
CHOICES: dict[str, tuple[str, ...]] = {
    "stage": STAGES,
    "format": tuple(FORMATS),
    "expanded": (ON, OFF, AUTO),
    "switch": (ON, OFF),
    "keys": ("emacs", "vi"),
    "chart": ("lines", "bars"),
}
