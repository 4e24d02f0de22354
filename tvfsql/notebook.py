"""`%load_ext tvfsql`: the magics %tvfsql and %%tvfsql, and short error messages. Does not import IPython itself."""

from __future__ import annotations

import datetime as dt
import shlex
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

from tvfsql.api import Compiled, Session
from tvfsql.api.display import ROWS, folded, html_table, preformatted
from tvfsql.api.hints import with_set_mode
from tvfsql.api.program import Stages
from tvfsql.api.script import queries_of
from tvfsql.charts import Chart, Size, chart_picture, draw_chart, read_chart
from tvfsql.errors import BindError, OptionError, Span, SqlSyntaxError, TvfSqlError, UnsupportedError, did_you_mean
from tvfsql.syntax import statements
from tvfsql.syntax.explain_words import PLAN, STAGES
from tvfsql.syntax.tokens import place_of, tokens_of

USAGE = "%%tvfsql [NAME <<] [--explain [STAGE]] [--chart ...] [--stream] [--session NAME]"
FLAGS = ("--chart", "--explain", "--stream", "--session")
CHARTED = 10_000  # rows of a result that a chart draws
OF_CHART = Size(100, 24)
NOT_FINITE = {"nan": "'NaN'", "inf": "'Infinity'", "-inf": "'-Infinity'"}  # as texts that CAST reads
SESSION = "tvfsql_session"  # the variable that holds the session of the magics

_registered: WeakKeyDictionary[Session, dict[str, Any]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Asked:
    """The line of a magic: `into` is the variable for the result, `explain` a stage, `text` the SQL on the line."""

    into: str | None = None
    explain: str | None = None
    stream: bool = False
    chart: Chart | None = None
    session: str = SESSION
    text: str = ""


def load(shell: Any) -> None:
    """Register the magics, and the display of our errors, in an IPython shell."""

    def tvfsql(line: str, cell: str | None = None) -> Any:
        return run(line, cell, shell.user_ns)

    shell.register_magic_function(tvfsql, "line_cell", "tvfsql")
    shell.set_custom_exc((TvfSqlError,), _tell)


def _tell(shell: Any, kind: type[BaseException], error: BaseException, trace: Any, tb_offset: Any = None) -> None:
    """Show the error with its caret, without a traceback."""
    print(error, file=sys.stderr)


def run(line: str, cell: str | None, space: dict[str, Any]) -> Any:
    """Run a magic; `space` has the notebook's variables. Returns the last result, which the notebook displays."""
    asked = read_line(line, whole=cell is None)
    sql, session = with_values(cell if cell is not None else asked.text, space), _session(asked.session, space)
    try:
        return _run(asked, sql, session, space)
    except TvfSqlError as error:
        with_set_mode(error, session.script)
        raise


def _run(asked: Asked, sql: str, session: Session, space: dict[str, Any]) -> Any:
    _register_frames(sql, session, space)
    if asked.explain:
        found = [query for outcome in session.script.outcomes(sql) for query in queries_of(outcome)]
        if not found:
            raise BindError("there is no query to explain", hint="SELECT ...")
        return _displayed(explained(found, asked.explain))
    if asked.stream:
        return _follow(sql, session, asked.chart)
    results = session.execute(sql)
    last = results[-1] if results else None
    if asked.into:
        space[asked.into] = last
    if asked.chart is not None and last is not None:
        columns, types, rows = last.rows(CHARTED + 1)
        charted = Charted(columns, types, rows[:CHARTED], asked.chart, of_first=len(rows) > CHARTED)
        return _displayed(charted)
    return None if asked.into else last


def _displayed(shown: object) -> None:
    from IPython import display

    show: Any = display.display
    show(shown)


@dataclass(frozen=True)
class Charted:
    """A chart of rows: a picture in a notebook, of characters in a terminal."""

    columns: Sequence[str]
    types: Sequence[str]
    rows: Sequence[Sequence[Any]]
    asked: Chart
    of_first: bool = False

    @property
    def note(self) -> str:
        return f"of the first {CHARTED:,} rows" if self.of_first else ""

    def __repr__(self) -> str:
        return draw_chart(self.columns, self.types, self.rows, self.asked, OF_CHART) + self.note

    def _repr_html_(self) -> str:
        return f"{chart_picture(self.columns, self.types, self.rows, self.asked)}<div><small>{self.note}</small></div>"


@dataclass(frozen=True)
class Explained:
    """Queries explained: a text in a terminal; in a notebook the plan of each as a picture, above the text."""

    text: str
    pictures: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return folded("", {"as text": self.text}, self.pictures) if self.pictures else preformatted(self.text)


def explained(queries: Sequence[Stages], stage: str) -> Explained:
    """Explain a stage of queries. Those that are plans have pictures."""
    from tvfsql.api.explain import explain
    from tvfsql.api.page.picture import picture

    plans = [query.logical if stage == "logical" else query.physical for query in queries]
    drawn = plans if stage in (PLAN, "all", "logical", "physical") else []
    return Explained(explain(queries, stage, "text"), "".join(map(picture, drawn)))


def read_line(line: str, *, whole: bool) -> Asked:
    """Parse the line. If the magic is for a `whole` cell, the SQL follows the line. Raises OptionError."""
    into, explain, stream, session, chart = None, None, False, SESSION, None
    rest = line.strip()
    name, arrow, after = rest.partition("<<")
    if arrow and name.strip().isidentifier():
        into, rest = name.strip(), after.strip()
    while rest.startswith("--"):
        flag, _, rest = rest.partition(" ")
        rest = rest.strip()
        word, _, after = rest.partition(" ")
        if flag == "--explain":
            explain = PLAN
            if word in STAGES:
                explain, rest = word, after.strip()
        elif flag == "--stream":
            stream = True
        elif flag == "--chart":
            words, mark, after = rest.partition("--")
            chart = Chart() if whole else read_chart(words)
            rest = rest if whole else mark + after
        elif flag == "--session" and word.isidentifier():
            session, rest = word, after.strip()
        else:
            raise OptionError(f"there is no option {flag} here", hint=did_you_mean(flag, FLAGS) or USAGE)
    if rest and not whole:
        raise OptionError(f"unexpected {shlex.split(rest)[0]} after %%tvfsql", hint=USAGE)
    return Asked(into, explain, stream, chart, session, rest)


def with_values(sql: str, space: Mapping[str, Any]) -> str:
    """The SQL with each `:name` replaced by the value of that Python variable as a literal."""
    tokens = tokens_of(sql)
    parts, end = [], 0
    for colon, name in pairwise(tokens):
        at = Span(place_of(colon).start, place_of(name).end)
        if colon != ":" or name.type != "NAME" or place_of(colon).end != place_of(name).start:
            continue
        if sql[at.start - 1 : at.start] == ":" or sql[at.start - 1 : at.start].isalnum():
            continue
        if str(name) not in space:
            names = [known for known in space if not known.startswith("_")]
            raise BindError(f"there is no variable {name}", span=at, hint=did_you_mean(name, names)).within(sql)
        parts += [sql[end : at.start], _literal(space[str(name)], at, sql)]
        end = at.end
    return "".join([*parts, sql[end:]])


def _literal(value: object, at: Span, sql: str) -> str:
    """A Python value as an SQL literal."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return f"({value})"
        case Decimal() if value.is_finite():
            return f"({value:f})"
        case float():
            number = repr(float(value))  # that of numpy's subclass is not a number
            return f"CAST({NOT_FINITE.get(number, number)} AS DOUBLE)"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case dt.datetime() if value.tzinfo is None:
            return f"TIMESTAMP '{value.isoformat(' ', 'milliseconds')}'"
        case dt.date() if not isinstance(value, dt.datetime):
            return f"DATE '{value.isoformat()}'"
    raise SqlSyntaxError(
        f"a {type(value).__name__} has no SQL literal", span=at, hint="a text, a number, a date or a time without zone"
    ).within(sql)


def _session(name: str, space: dict[str, Any]) -> Session:
    found = space.get(name)
    if found is None and name == SESSION:
        found = space[name] = Session(mode=None)
    if not isinstance(found, Session):
        raise BindError(f"the variable {name} is not a tvfsql.Session", hint=f"{name} = tvfsql.Session(mode=None)")
    return found


def _register_frames(sql: str, session: Session, space: Mapping[str, Any]) -> None:
    """Register the DataFrames and Arrow tables that the SQL names under their names, unless a table has the name.

    A variable whose value has changed is registered again.
    """
    ours = _registered.setdefault(session, {})
    for name in {str(token) for token in tokens_of(sql) if token.type == "NAME"}:
        value = space.get(name)
        if value is None or isinstance(value, type) or ours.get(name) is value:
            continue
        is_frame = any(hasattr(value, kind) for kind in ("createOrReplaceTempView", "__arrow_c_stream__"))
        if is_frame and (name in ours or session.catalog.find(name) is None):
            session.register(name, value)
            ours[name] = value


def _follow(sql: str, session: Session, chart: Chart | None = None) -> Any:
    """Run a streaming SELECT and show its newest rows in one table, or all of them in one chart, which is updated in
    place, until it ends or Ctrl-C.
    """
    from IPython import display

    from tvfsql.runtime.host.row_formats import cells

    parsed = session.script.parsed(sql)
    _refuse_others(parsed.statements, sql)
    outcomes = [*session.script.executed(parsed)]
    query = outcomes[-1] if outcomes else None
    if not isinstance(query, Compiled) or query.sink is not None or query.mode != "streaming":
        raise BindError("--stream takes a SELECT from a stream", hint="SET 'execution.runtime-mode' = 'streaming'")
    newest: list[list[str | None]] = []
    drawn: deque[Any] = deque(maxlen=CHARTED)
    count = 0
    html: Any = display.HTML
    show: Any = display.display
    shown = show(html(html_table(query.names_and_types, [])), display_id=True)

    def take(rows: tuple[list[str], list[str], list[Any]]) -> None:
        nonlocal count
        names, kinds, found = rows
        if chart is not None:
            drawn.extend(found)
            shown.update(html(chart_picture(names, kinds, [*drawn], chart)))
            return
        newest[:0] = reversed([*cells(kinds, found)])
        del newest[ROWS:]
        count += len(found)
        columns = [*zip(names, kinds, strict=True)]
        shown.update(html(html_table(columns, newest, f"the newest of {count}, newest first")))

    try:
        session.follow(query, take)
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
    return None


def _refuse_others(found: Sequence[statements.Statement], sql: str) -> None:
    """Raise UnsupportedError for a statement before the last one that would have to run too."""
    for each in found[:-1]:
        inner = each.statement if isinstance(each, statements.Hinted) else each
        fills = isinstance(inner, statements.CreateTable) and inner.query is not None
        if fills or isinstance(inner, statements.Insert | statements.StatementSet | statements.Call):
            problem = "--stream runs a SELECT alone, without this statement"
            raise UnsupportedError(problem, span=inner.span, hint="a cell of its own, without --stream").within(sql)
