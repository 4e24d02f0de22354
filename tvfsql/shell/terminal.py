"""The shell on a terminal: multi-line editing, history, completion, colours. Spark starts in the background."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, has_completions, is_searching
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout.processors import HighlightMatchingBracketProcessor
from prompt_toolkit.lexers import PygmentsLexer
from prompt_toolkit.output import Output
from prompt_toolkit.styles import Style
from pygments.lexer import RegexLexer, bygroups, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from tvfsql.api import Session
from tvfsql.errors import TvfSqlError
from tvfsql.secrets import stars
from tvfsql.shell.commands import run_command
from tvfsql.shell.completion import KEYWORDS, candidates
from tvfsql.shell.splitting import is_command, is_complete
from tvfsql.shell.state import Shell
from tvfsql.syntax.parser import STARTS
from tvfsql.syntax.tokens import FUNCTIONS

BANNER = "tvfsql: Flink's window SQL on Spark. Statements end with a semicolon; \\? lists the commands, \\q leaves."
COLOURS = Style.from_dict(  # the terminal's own colours, which are readable on any background
    {
        "pygments": "noinherit",
        "pygments.keyword": "noinherit bold",
        "pygments.name": "noinherit",
        "pygments.name.builtin": "noinherit ansicyan bold",
        "pygments.name.function": "noinherit ansicyan",
        "pygments.literal.string": "noinherit ansigreen",
        "pygments.literal.number": "noinherit ansimagenta",
        "pygments.comment": "noinherit ansibrightblack italic",
        "pygments.operator": "noinherit",
    }
)
PROMPT, MORE = "tvfsql> ", "      > "


class PrivateHistory(FileHistory):
    """A history that does not write statements with passwords into its file."""

    def store_string(self, string: str) -> None:
        if stars(string) == string:
            with suppress(OSError):  # a full disk loses history, not the session
                super().store_string(string)


class SqlCompleter(Completer):
    def __init__(self, session: Session) -> None:
        self.session = session

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        text, after = document.text_before_cursor, document.text_after_cursor
        typing = not complete_event.completion_requested
        if typing and not document.get_word_before_cursor(WORD=True):
            return  # a menu after each blank would disturb
        for each in candidates(text, after, self.session):
            shown, about = each.shown or each.text, each.about
            yield Completion(each.text, -each.length, display=shown, display_meta=about)


def run_terminal(
    session: Session,
    *,
    input: Input | None = None,
    output: Output | None = None,
    start_spark: bool = True,
    history: History | None = None,
) -> int:
    """Read and run until `\\q` or Ctrl-D. Returns the exit code."""
    shell = Shell(session, run_command, terminal=True)
    starting = threading.Thread(target=_start, args=(session,), name="tvfsql-start", daemon=True)
    if start_spark:
        starting.start()
    print(BANNER, file=sys.stderr)
    try:
        if file := start_file():
            _guarded(lambda: shell.run_file(str(file)))
        prompt = _prompt(shell, lambda: _state(shell, starting), input, output, history)
        while not shell.ended:
            with suppress(KeyboardInterrupt):  # wherever it occurs, it ends a line, not the session
                if not _line(shell, prompt):
                    break
    finally:
        shell.close()
    return 0


def _line(shell: Shell, prompt: PromptSession[str]) -> bool:
    """Read up to the end of a statement or command, and run it. Returns False at the end of the input."""
    prompt.editing_mode = EditingMode.VI if shell.settings.keys == "vi" else EditingMode.EMACS
    text, shell.text = shell.text, ""
    try:
        typed = prompt.prompt(default=text)
    except EOFError:
        return False
    if typed.strip():
        with without_echo():
            shell.run_lines(typed.splitlines())
    return True


def _guarded(work: Callable[[], object]) -> None:
    try:
        work()
    except TvfSqlError as error:
        print(error, file=sys.stderr)


def _start(session: Session) -> None:
    """Start Spark in advance. An error here is ignored: it occurs again, and is reported, when Spark is needed."""
    with suppress(BaseException):
        from tvfsql import answers  # noqa: F401  (loading it takes longer than one notices)

        session.spark  # noqa: B018
        session.own.silence()


def _state(shell: Shell, starting: threading.Thread) -> str:
    spark = "Spark starts ..." if starting.is_alive() else "Spark runs" if shell.session.own.spark else "no Spark yet"
    mode = shell.session.script.mode or "automatic"
    parts = [spark, f"mode {mode}", f"format {shell.settings.format}", f"{shell.settings.keys} keys", "\\? help"]
    return " " + "  |  ".join(parts)


def _prompt(
    shell: Shell,
    state: Callable[[], str],
    input: Input | None,
    output: Output | None,
    history: History | None,
) -> PromptSession[str]:
    if history is None:
        file = history_file()
        history = PrivateHistory(str(file)) if file else InMemoryHistory()
    return PromptSession(
        PROMPT,
        multiline=True,
        prompt_continuation=lambda width, line, wrapped: "" if wrapped else MORE,
        lexer=PygmentsLexer(FlinkLexer),
        completer=SqlCompleter(shell.session),
        complete_while_typing=True,
        complete_in_thread=True,
        auto_suggest=AutoSuggestFromHistory(),
        history=history,
        style=COLOURS,
        include_default_pygments_style=False,
        enable_open_in_editor=True,
        input_processors=[HighlightMatchingBracketProcessor(chars="[](){}")],
        key_bindings=_keys(),
        bottom_toolbar=state,
        refresh_interval=0.5,
        input=input,
        output=output,
    )


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @Condition
    def is_finished() -> bool:
        from prompt_toolkit.application.current import get_app

        return _is_finished(get_app().current_buffer)

    @keys.add("enter", filter=is_finished & ~is_searching)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    @keys.add("c-d", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        """Leave; in an unfinished statement, discard it."""
        buffer = event.current_buffer
        if not buffer.text:
            event.app.exit(exception=EOFError)
        elif buffer.cursor_position == len(buffer.text):
            event.app.exit(exception=KeyboardInterrupt)
        else:
            buffer.delete()

    @keys.add("tab", filter=~has_completions)
    def _(event: KeyPressEvent) -> None:
        """Indent at the start of a line, complete elsewhere."""
        buffer = event.current_buffer
        if buffer.document.current_line_before_cursor.strip() or not buffer.text.strip():
            buffer.start_completion(insert_common_part=True)
        else:
            buffer.insert_text("  ")

    return keys


def _is_finished(buffer: Buffer) -> bool:
    text = buffer.text
    return not text.strip() or ("\n" not in text.strip() and is_command(text)) or is_complete(text)


# The shell's own files: the history, which only the user may read, and the start file.


def history_file() -> Path | None:
    """A private file for the history, in $XDG_STATE_HOME or ~/.local/state. None if it cannot be created."""
    given = os.environ.get("TVFSQL_HISTORY")
    if given == "":
        return None
    try:
        path = Path(given) if given else _folder("XDG_STATE_HOME", "~/.local/state") / "history"
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600))
        path.chmod(0o600)
        return path
    except (OSError, RuntimeError):
        return None


def start_file() -> Path | None:
    """$TVFSQL_SHELLRC, or `shellrc` in $XDG_CONFIG_HOME/tvfsql or ~/.config/tvfsql; None if there is no such file."""
    given = os.environ.get("TVFSQL_SHELLRC")
    if given == "":
        return None
    try:
        path = Path(given) if given else _folder("XDG_CONFIG_HOME", "~/.config") / "shellrc"
        return path if path.is_file() else None
    except (OSError, RuntimeError):
        return None


def _folder(variable: str, usual: str) -> Path:
    base = Path(os.environ.get(variable, ""))
    return (base if base.is_absolute() else Path(usual).expanduser()) / "tvfsql"


# The keyboard while a statement runs: typed text is not echoed and waits for the next prompt.


@contextmanager
def without_echo() -> Iterator[None]:
    """Do not echo keys within the block, not even `^C`; they still interrupt. Without a terminal this has no effect."""
    try:
        import termios

        keyboard = sys.stdin.fileno()
        before = termios.tcgetattr(keyboard)
    except (ImportError, OSError, ValueError):  # Windows, no terminal, or no file
        yield
        return
    quiet = [*before]
    quiet[3] &= ~termios.ECHO
    termios.tcsetattr(keyboard, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


# Highlights SQL during typing: a pygments lexer with Flink's keywords.


ALL = tuple(sorted({*KEYWORDS, *(each for each in STARTS if each.isalpha())}, key=len, reverse=True))


class FlinkLexer(RegexLexer):
    """Statements and commands of the shell. A string or comment that is still open extends to the end."""

    name = "tvfsql"
    flags = re.IGNORECASE
    tokens = {
        "root": [
            (r"\A\s*(\\\S*|\.[a-z]+)(.*)", bygroups(Name.Builtin, Text)),  # type: ignore[no-untyped-call]
            (r"\s+", Text),
            (r"--[^\n]*", Comment.Single),
            (r"/\*(.|\n)*?(\*/|\Z)", Comment.Multiline),
            (r"'(''|[^'])*('|\Z)", String),
            (r"`(``|[^`])*(`|\Z)", Name),
            (words(FUNCTIONS, prefix=r"\b", suffix=r"(?=\s*\()"), Name.Builtin),
            (words(ALL, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"[^\W\d][\w$]*(?=\s*\()", Name.Function),
            (r"[^\W\d][\w$]*", Name),
            (r"\d+(\.\d+)?(e[+-]?\d+)?", Number),
            (r"[(),;.\[\]]", Punctuation),
            (r".", Operator),
        ]
    }
