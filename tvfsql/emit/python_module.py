"""The lines of the Python module while it is being written: the only mutable object of the compiler."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from tvfsql.errors import screen_width
from tvfsql.plan.node import Node
from tvfsql.plan.values.user_function import UserFunction
from tvfsql.secrets import OF_ENVIRONMENT

PARAMETERS = ("spark", "query", "insert", "F", "rows")  # names that no variable may have
STANDARD = ("collections.abc", "functools")  # modules of the standard library


@dataclass(frozen=True)
class Call:
    """`.name(arguments)`; an argument is Python text or a chain. `arguments=None` is an attribute: `.name`."""

    name: str
    arguments: tuple[str | Chain, ...] | None = ()

    def flat(self) -> str:
        return self.name if self.arguments is None else f"{self.name}({', '.join(map(_flat, self.arguments))})"


@dataclass(frozen=True)
class Chain:
    """Calls on calls: `F.sum("price").alias("total")`."""

    head: str
    calls: tuple[Call, ...] = ()

    def then(self, name: str, *arguments: str | Chain) -> Chain:
        return Chain(self.head, (*self.calls, Call(name, arguments)))

    def get(self, attribute: str) -> Chain:
        return Chain(self.head, (*self.calls, Call(attribute, None)))

    def flat(self) -> str:
        """The chain on one line."""
        calls = "".join(f".{call.flat()}" for call in self.calls)
        return self.head + calls if self.head else calls[1:]


def called(function: str, *arguments: str | Chain) -> Chain:
    """`function(arguments)`"""
    return Chain("", (Call(function, arguments),))


@dataclass(frozen=True)
class Rows:
    """A DataFrame that no variable holds yet: the chain that makes it, and steps over it that keep its name.

    Its variable is assigned only where a name is needed (`PythonModule.variable`), so rows that are used once are one
    chain.
    """

    name: str  # of the variable, taken already
    made: Chain
    steps: tuple[Call, ...] = ()

    def then(self, method: str, *arguments: str | Chain) -> Rows:
        return replace(self, steps=(*self.steps, Call(method, arguments)))

    def transform(self, function: str, *arguments: str) -> Rows:
        """The rows that a function of the runtime makes of these."""
        return self.then("transform", function, *arguments)

    @property
    def assigned(self) -> bool:
        """Whether the variable has been assigned, so that steps need another one."""
        return self.made == Chain(self.name)

    @property
    def chain(self) -> Chain:
        return Chain(self.made.head, (*self.made.calls, *self.steps))


# the variable for rows that several operators read, by the first step over it
AFTER = {
    "where": "filtered",
    "select": "selected",
    "distinct": "distinct_rows",
    "orderBy": "sorted_rows",
    "offset": "limited",
    "limit": "limited",
    "withColumn": "extended",
}


@dataclass
class PythonModule:
    """The statements of one function, and the imports that they need. `shared` has the names of the rows of shared
    plans. `beside` has other functions that it calls, by name, for the whole program.
    """

    lines: list[str] = field(default_factory=list)
    imports: set[tuple[str, str]] = field(default_factory=set)
    functions: dict[UserFunction, str] = field(default_factory=dict)  # the variables that hold them
    names: set[str] = field(default_factory=lambda: {*PARAMETERS})
    assigned: set[str] = field(default_factory=set)
    shared: Mapping[Node, str] = field(default_factory=dict)
    parts: dict[int, str] = field(default_factory=dict)  # the variables of common parts, by their numbers
    beside: dict[str, str] = field(default_factory=dict)
    observed: dict[str, Node] = field(default_factory=dict)  # stateful operators, by the name of their metrics
    zone: str = "UTC"  # `table.local-time-zone`, in which tables show instants
    of_dead_letters: bool = False  # whether tables are read for their unreadable rows

    def need(self, module: str, name: str) -> str:
        """Import a name and return it."""
        self.imports.add((module, name))
        return name

    def name(self, wanted: str) -> str:
        """Return a variable name like `wanted`, with a number appended only on a clash."""
        base = re.sub(r"\W+", "_", wanted.lower()).strip("_") or "table"
        base = f"{base}_" if keyword.iskeyword(base) else f"t_{base}" if base[0].isdigit() else base
        name = next(name for name in chain([base], (f"{base}_{i}" for i in count(2))) if name not in self.names)
        self.names.add(name)
        return name

    def assign(self, name: str, value: Chain | str) -> str:
        """Write `name = value` and return the name. Each is assigned once: plans share parts, so a second value of a
        variable could reach an operator that was to read the first."""
        assert name not in self.assigned, f"{name} is assigned twice"
        self.assigned.add(name)
        self.lines += laid_out(f"{name} = {_flat(value)}")
        return name

    def rows(self, wanted: str, made: Chain | str) -> Rows:
        """Rows with a variable like `wanted`."""
        return Rows(self.name(wanted), made if isinstance(made, Chain) else Chain(made))

    def variable(self, rows: Rows) -> str:
        """The variable that holds the rows; it is assigned unless it has been."""
        if rows.assigned and not rows.steps:
            return rows.name
        name = self.name(AFTER.get(rows.steps[0].name, "rows_of_step")) if rows.assigned else rows.name
        return self.assign(name, rows.chain)

    def statement(self, value: Chain, indent: int = 4) -> list[str]:
        """A statement that is only an expression."""
        return laid_out(value.flat(), indent)

    def once(self, value: Chain) -> None:
        """Write a statement that is only an expression, unless it has been written."""
        lines = self.statement(value)
        self.lines += [] if lines[0] in self.lines else lines

    def give_back(self, value: Rows | Chain) -> None:
        """Write the final `return`. What makes the rows and the steps over them are two statements."""
        if isinstance(value, Rows) and self.parts:
            held = self.need("tvfsql.runtime", "holding")
            value = called(held, self.variable(value), *self.parts.values())
        if isinstance(value, Rows):
            if value.steps and not value.assigned:
                value = replace(value, made=Chain(self.assign(value.name, value.made)))
            value = value.chain
        self.lines += laid_out(f"return {value.flat()}")


def literal(value: object) -> str:
    """A Python literal; a string has double quotes, unless single quotes need fewer escapes."""
    match value:
        case str():
            quote = "'" if value.count('"') > value.count("'") else '"'
            # with a double quote in front, repr() uses single quotes and escapes only these
            body = repr('"' + value)[2:-1].replace("\\'", "'")
            return quote + body.replace(quote, "\\" + quote) + quote
        case list() | tuple():
            return f"[{', '.join(map(literal, value))}]"
        case dict():
            return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    return repr(value)


def option_value(value: str, module: PythonModule) -> str:
    """An option's value as Python code; values from the environment are read when the program runs."""
    if OF_ENVIRONMENT.search(value):
        return f"{module.need('tvfsql.runtime', 'from_environment')}({literal(value)})"
    return literal(value)


def _flat(argument: str | Chain) -> str:
    return argument if isinstance(argument, str) else argument.flat()


def module_text(
    comment: Iterable[str], imports: Iterable[tuple[str, str]], functions: Sequence[str], main: Sequence[str]
) -> str:
    """The text of a whole Python module; `main` has what it runs as a script."""
    names: dict[str, list[str]] = {}
    for source, name in sorted(imports):
        names.setdefault(source, []).append(name)
    ranks = ", Window" if any(_reads("Window", function) for function in functions) else ""
    sparks = [f"from pyspark.sql import DataFrame, SparkSession{ranks}"]
    if any(_reads("F", function) for function in functions):
        sparks.append("from pyspark.sql import functions as F")
    python = [line for source in STANDARD if source in names for line in _import(source, names.pop(source))]
    ours = [line for source, found in names.items() for line in _import(source, found)]
    head = "\n\n".join("\n".join(lines) for lines in ([*_comments(comment)], python, sparks, ours) if lines)
    body = "\n\n\n".join([head, *functions])
    if not main:
        return f"{body}\n"
    start = "\n".join(['if __name__ == "__main__":', *(line for each in main for line in laid_out(each))])
    return f"{body}\n\n\n{start}\n"


def _comments(lines: Iterable[str]) -> Iterator[str]:
    """The SQL as comments. In the first two lines `coding:` is escaped, because Python would read it as an encoding."""
    for i, line in enumerate(lines):
        shown = "".join(char if char.isprintable() or char == "\t" else " " for char in line)
        yield f"# {re.sub('coding(?=[:=])', 'coding ', shown) if i < 2 else shown}".rstrip()


def _import(source: str, names: Sequence[str]) -> list[str]:
    line = f"from {source} import {', '.join(names)}"
    return [line] if fits(line) else [f"from {source} import (", *(f"    {name}," for name in names), ")"]


def _reads(name: str, function: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(ast.parse(function)))


# Breaks long statements into lines as `ruff format` does, so that the module looks like hand-written code.
#
# A statement is written on one line and parsed with Python's own parser; lines are broken in calls, lists and dicts.


WIDTH = 100


def laid_out(statement: str, indent: int = 4) -> list[str]:
    """The lines of a statement `value`, `name = value` or `return value`."""
    pad = " " * indent
    if fits(pad + statement):
        return [pad + statement]
    (function,) = ast.parse(f"def _():\n {statement}").body
    assert isinstance(function, ast.FunctionDef)
    (parsed,) = function.body
    assert isinstance(parsed, ast.Assign | ast.Return | ast.Expr), statement
    assert parsed.value is not None, statement
    layout = _Layout(f" {statement}".encode())
    before = layout.text(1, parsed.value.col_offset)
    return list(layout.broken(parsed.value, pad + before, "", indent, bare=True))


def fits(line: str) -> bool:
    """Whether the line has at most WIDTH columns."""
    return screen_width(line) <= WIDTH


@dataclass(frozen=True)
class _Layout:
    """The text of one statement; the nodes of its syntax tree have positions in it."""

    source: bytes

    def text(self, start: int, end: int | None) -> str:
        return self.source[start:end].decode()

    def broken(self, node: ast.expr, before: str, after: str, indent: int, *, bare: bool = False) -> Iterator[str]:
        """The lines of a node between two texts. `bare`: it has no brackets around it yet."""
        flat = before + self.text(node.col_offset, node.end_col_offset) + after
        pad = " " * indent
        if fits(flat) or not isinstance(node, ast.Call | ast.List | ast.Dict):
            yield flat
        elif isinstance(node, ast.List):
            yield f"{before}["
            for item in node.elts:
                yield from self.broken(item, f"{pad}    ", _comma(node.elts), indent + 4)
            yield f"{pad}]{after}"
        elif isinstance(node, ast.Dict):
            yield f"{before}{{"
            for key, value in zip(node.keys, node.values, strict=True):
                assert key is not None
                start = f"{pad}    {self.text(key.col_offset, key.end_col_offset)}: "
                yield from self.broken(value, start, _comma(node.values), indent + 4)
            yield f"{pad}}}{after}"
        elif len(links := _links(node)) > 2 and bare:
            yield f"{before}("
            lines = self.broken if before.strip() else self.chain
            yield from lines(node, f"{pad}    ", "", indent + 4)
            yield f"{pad}){after}"
        elif len(links) > 2 and not before.strip():
            yield from self.chain(node, before, after, indent)
        else:
            yield from self.call(node, before, after, indent)

    def chain(self, node: ast.Call, before: str, after: str, indent: int) -> Iterator[str]:
        """A chain of calls, one call per line."""
        links = _links(node)
        start = node.col_offset
        for link in links:
            head = self.text(start, link.func.end_col_offset)
            tail = after if link is links[-1] else ""
            yield from self.arguments(link, before + head, tail, indent)
            before, start = " " * indent, link.end_col_offset or 0

    def call(self, node: ast.Call, before: str, after: str, indent: int) -> Iterator[str]:
        """A call with its last arguments broken; if the text before these is too long, with the earlier ones broken."""
        head = before + self.text(node.col_offset, node.func.end_col_offset)
        *_, inner = [None, *_links(node)[:-1]]
        if inner is None or (fits(f"{head}(") and (node.args or node.keywords)):
            yield from self.arguments(node, head, after, indent)
            return
        head = before + self.text(inner.col_offset, inner.func.end_col_offset)
        *lines, end = self.arguments(inner, head, "", indent, alone=True)
        yield from lines
        yield from self.arguments(
            node, end + self.text(inner.end_col_offset or 0, node.func.end_col_offset), after, indent
        )

    def arguments(self, node: ast.Call, head: str, after: str, indent: int, *, alone: bool = False) -> Iterator[str]:
        """`head(arguments)`: on one line (not if `alone`), else all arguments on one line of their own, else one per
        line.
        """
        inside = self.text((node.func.end_col_offset or 0) + 1, (node.end_col_offset or 0) - 1)
        pad = " " * indent
        parts: list[ast.expr | ast.keyword] = [*node.args, *node.keywords]
        if not parts or (not alone and fits(f"{head}({inside}){after}")):
            yield f"{head}({inside}){after}"
            return
        yield f"{head}("
        if fits(f"{pad}    {inside}"):
            yield f"{pad}    {inside}"
        else:
            for part in parts:
                value = part.value if isinstance(part, ast.keyword) else part
                start = f"{pad}    " + self.text(part.col_offset, value.col_offset)
                yield from self.broken(value, start, _comma(parts), indent + 4)
        yield f"{pad}){after}"


def _links(node: ast.expr) -> list[ast.Call]:
    """The calls of a chain in order: for `f(x).g.h(y)` these are `f(x)` and `f(x).g.h(y)`."""
    links: list[ast.Call] = []
    at: ast.expr = node
    while isinstance(at, ast.Call | ast.Attribute):
        if isinstance(at, ast.Call):
            links.append(at)
        at = at.func if isinstance(at, ast.Call) else at.value
    return links[::-1]


def _comma(items: Sequence[object]) -> str:
    """The separator after each of several items that have lines of their own."""
    return "," if len(items) > 1 else ""
