"""A scalar expression of a plan: Spark SQL text with placeholders for the columns and user functions in it.

The binder makes it from a parsed expression. Rules only ask which columns it reads and replace columns by other
expressions. So plans hold no trees of a parser, compare by value and print as SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from tvfsql.errors import Span
from tvfsql.plan.values.facts import PLAIN, Facts, fails
from tvfsql.plan.values.names import bare as bare
from tvfsql.plan.values.names import quoted as quoted
from tvfsql.plan.values.types import TIMESTAMP_LTZ, UNKNOWN, SqlType
from tvfsql.plan.values.user_function import UserFunction


@dataclass(frozen=True)
class Ref:
    """A placeholder for the column of that name."""

    name: str


@dataclass(frozen=True)
class Proctime:
    """Flink's PROCTIME(): the time at which a row is processed. On streams that is the time of its micro-batch, in
    batch the time of the run.
    """

    sql = "date_trunc('MILLISECOND', current_timestamp())"

    def __str__(self) -> str:
        return "PROCTIME()"


Part = str | Ref | UserFunction | Proctime  # a function is printed as its name


@dataclass(frozen=True)
class Bound:
    """What a condition says of a column: `column` `sign` `end`. The sign is >, >=, <, <= or =, and the end is a value
    of the column's type that reads no column. The condition may also hold if the column is NULL.
    """

    column: str
    sign: str
    end: Scalar


@dataclass(frozen=True)
class Rising:
    """An expression of one column that does not fall when the column rises, and is NULL if the column is.

    If it is at least `end`, the column is at least `lowest`, and if it is at most `end`, the column is at most
    `highest`: patterns with `{end}`, empty if this is not known. Where the expression is also NULL for other values of
    `{column}`, these satisfy `below` or `above`. `exact`: it never falls; otherwise a clock that is put back may make
    it, by less than the patterns allow for.
    """

    column: str
    lowest: str = "{end}"
    highest: str = "{end}"
    below: str = ""
    above: str = ""
    exact: bool = True

    def over(self, inner: Rising) -> Rising:
        """This expression of another one of one column."""
        lowest, highest = (
            of_inner.replace("{end}", own) if own else ""
            for of_inner, own in ((inner.lowest, self.lowest), (inner.highest, self.highest))
        )
        below, above = inner.below or self.below, inner.above or self.above
        return Rising(inner.column, lowest, highest, below, above, self.exact and inner.exact)

    def conditions(self, bound: Bound, kind: SqlType) -> Iterator[Scalar]:
        """What a bound of the expression says of its column, which is of that type."""
        for sign, pattern, others in ((">=", self.lowest, self.below), ("<=", self.highest, self.above)):
            if pattern and bound.sign[0] in (sign[0], "="):
                end = template(pattern, {"end": bound.end}, kind)
                yield self.condition(sign, end, others, kind)

    def condition(self, sign: str, end: Scalar, others: str, kind: SqlType) -> Scalar:
        """The column compared with an end, which rows without a value pass."""
        values = {"column": column(self.column, kind), "end": replace(end, atomic=True)}
        pattern = f"({{column}} {sign} {{end}} OR {{column}} IS NULL{f' OR {others}' if others else ''})"
        return replace(template(pattern, values), bounds=(Bound(self.column, sign, end),))


@dataclass(frozen=True)
class Among:
    """A condition that is true where `column` is one of `strings`, and nowhere else."""

    column: str
    strings: frozenset[str]


@dataclass(frozen=True)
class Scalar:
    """`parts` are concatenated to the text. `atomic` text needs no parentheses inside other text. `written` has the
    parts of the text that the user wrote, if known. `bounds` are those of times that a condition states, if it states
    nothing else. `rising`: it does not fall when its column rises. `string` is the value of a string literal; `among`
    is set for a condition that only compares a column with such literals.
    """

    parts: tuple[Part, ...]
    type: SqlType = field(default=UNKNOWN, compare=False)
    atomic: bool = field(default=True, compare=False)
    facts: Facts = field(default=PLAIN, compare=False)
    span: Span | None = field(default=None, compare=False, repr=False)
    written: tuple[Part, ...] = field(default=(), compare=False, repr=False)
    bounds: tuple[Bound, ...] = field(default=(), compare=False, repr=False)
    rising: Rising | None = field(default=None, compare=False, repr=False)
    string: str | None = field(default=None, compare=False, repr=False)
    among: Among | None = field(default=None, compare=False, repr=False)

    @property
    def shown(self) -> tuple[Part, ...]:
        """The parts of the text for EXPLAIN."""
        return self.written or self.parts

    @property
    def sql(self) -> str:
        """The text, in Spark's dialect."""
        return "".join(part.sql if isinstance(part, Proctime) else _text(part) for part in self.parts)

    @property
    def columns(self) -> frozenset[str]:
        """The columns that it reads."""
        return frozenset(part.name for part in self.parts if isinstance(part, Ref))

    @property
    def column(self) -> str | None:
        """The column, if the expression is just a column; else None."""
        match self.parts:
            case (Ref(name),):
                return name
        return None

    @property
    def deterministic(self) -> bool:
        """Whether it has one value for a row, as long as the clock stands."""
        return self.facts.deterministic

    @property
    def lasting(self) -> bool:
        """Whether its value for a row is always the same, also in another micro-batch."""
        return self.facts.deterministic and not self.facts.reads_clock

    def substitute(self, columns: Mapping[str, Scalar]) -> Scalar:
        """Replace columns by other expressions; columns that are not named stay."""
        used = [columns[name] for name in self.columns if name in columns]
        facts = self.facts.and_those(new.facts for new in used)
        atomic = self.atomic and (len(self.parts) > 1 or all(new.atomic for new in used))
        parts = _with(self.parts, {name: (new.parts, new.atomic) for name, new in columns.items()})
        written = _with(self.shown, {name: (new.shown, new.atomic) for name, new in columns.items()})
        bounds, rising, among = self._bounds_over(columns), self._rising_over(columns), self._among_over(columns)
        return Scalar(parts, self.type, atomic, facts, self.span, written, bounds, rising, self._string(columns), among)

    def _string(self, columns: Mapping[str, Scalar]) -> str | None:
        """The string that it is after its columns are replaced."""
        new = columns.get(self.column) if self.column is not None else None
        return self.string if new is None else new.string

    def _among_over(self, columns: Mapping[str, Scalar]) -> Among | None:
        if self.among is None or self.among.column not in columns:
            return self.among
        name = columns[self.among.column].column
        return None if name is None else replace(self.among, column=name)

    def _bounds_over(self, columns: Mapping[str, Scalar]) -> tuple[Bound, ...]:
        """Its bounds after its columns are replaced; none if one of them becomes an expression."""
        names = [columns[each.column].column if each.column in columns else each.column for each in self.bounds]
        return tuple(
            replace(each, column=name) for each, name in zip(self.bounds, names, strict=True) if name is not None
        )

    def _rising_over(self, columns: Mapping[str, Scalar]) -> Rising | None:
        if self.column is not None and self.column in columns:
            return columns[self.column].rising
        new = columns.get(self.rising.column) if self.rising else None
        if new is None or self.rising is None:
            return self.rising
        inner = Rising(new.column) if new.column is not None else new.rising
        return None if inner is None else self.rising.over(inner)

    def renamed(self, names: Mapping[str, str]) -> Scalar:
        return self.substitute({old: column(new) for old, new in names.items()})

    def __str__(self) -> str:
        """The text for EXPLAIN."""
        return "".join(str(part) if isinstance(part, Proctime) else _text(part) for part in self.shown)


PROCTIME = Scalar((Proctime(),), TIMESTAMP_LTZ, facts=Facts(reads_clock=True))


def column(name: str, kind: SqlType = UNKNOWN, span: Span | None = None) -> Scalar:
    """The expression that is just a column."""
    return Scalar((Ref(name),), kind, span=span)


def text(sql: str, kind: SqlType = UNKNOWN) -> Scalar:
    """A constant: an expression that reads no column, and cannot fail."""
    return Scalar((sql,), kind)


def template(pattern: str, arguments: Mapping[str, Scalar], kind: SqlType = UNKNOWN, *, atomic: bool = True) -> Scalar:
    """Fill the arguments into the `{name}`s of `pattern`, which is text of tvfsql's own."""
    holes: list[Part] = []
    for literal, name in re.findall(r"([^{}]*)(?:\{(\w+)\})?", pattern):
        holes += [literal, Ref(name)] if name else [literal]
    bare = {name: argument.atomic or _fenced(pattern, name) for name, argument in arguments.items()}
    facts = Facts(can_fail=fails(pattern)).and_those(argument.facts for argument in arguments.values())
    made, written = (
        _with(holes, {name: (getattr(part, text), bare[name]) for name, part in arguments.items()})
        for text in ("parts", "shown")
    )
    return Scalar(made, kind, atomic, facts, written=written)


def _fenced(pattern: str, name: str) -> bool:
    """Whether commas, parentheses or keywords enclose the placeholder, so that its text needs no parentheses."""
    return bool(re.search(rf"(?:[(,]\s*(?:\{{d\}})?|WHERE |WHEN )\{{{name}\}}(?:[,)]| AS | THEN )", pattern))


def free_name(wanted: str, taken: Callable[[str], bool] | Collection[str]) -> str:
    """Return `wanted`, or `wanted` with the lowest number appended that makes it free. Names that are taken are taken
    in any case, as for Spark; a function decides itself.
    """
    if callable(taken):
        is_taken = taken
    else:
        known = {name.lower() for name in taken}

        def is_taken(name: str) -> bool:
            return name.lower() in known

    if not is_taken(wanted):
        return wanted
    return next(name for i in count() if not is_taken(name := f"{wanted}{i}"))


def _with(parts: Sequence[Part], new: Mapping[str, tuple[tuple[Part, ...], bool]]) -> tuple[Part, ...]:
    """Replace columns in the parts. Replacements get parentheses, unless they are marked as needing none."""
    made: list[Part] = []
    for part in parts:
        found = new.get(part.name) if isinstance(part, Ref) else None
        if found is None:
            made.append(part)
        else:
            inner, bare = found
            made += inner if bare or len(parts) == 1 else ("(", *inner, ")")
    return _joined(made)


def _text(part: str | Ref | UserFunction) -> str:
    return part if isinstance(part, str) else quoted(part.name)


def _joined(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Merge neighbouring texts, so that equal expressions have equal parts."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return tuple(joined)
