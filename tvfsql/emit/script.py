"""The one mutable thing in the compiler: the lines of the Python module that is being written.

Layout follows `ruff format` at 100 columns, so that the module looks as its reader's own code would.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

WIDTH = 100


@dataclass(frozen=True)
class Call:
    """`.name(arguments)`; an argument is Python text or a chain."""

    name: str
    arguments: tuple[str | Chain, ...] = ()


@dataclass(frozen=True)
class Chain:
    """Calls on calls: `F.sum("price").alias("total")`."""

    head: str
    calls: tuple[Call, ...] = ()

    def then(self, name: str, *arguments: str | Chain) -> Chain:
        return Chain(self.head, (*self.calls, Call(name, arguments)))

    def flat(self) -> str:
        """All on one line."""
        calls = "".join(f".{call.name}({', '.join(map(_flat, call.arguments))})" for call in self.calls)
        return self.head + calls if self.head else calls[1:]


@dataclass
class Script:
    """Statements of one function, and what they need imported."""

    lines: list[str] = field(default_factory=list)
    imports: set[tuple[str, str]] = field(default_factory=set)
    names: set[str] = field(default_factory=lambda: {"spark", "query", "insert", "F", "rows"})
    last: tuple[str, Chain | str, int] | None = None

    def need(self, module: str, name: str) -> str:
        """Import a name; gives the name."""
        self.imports.add((module, name))
        return name

    def name(self, wanted: str) -> str:
        """A variable called after what it holds; a number behind it only on a clash."""
        base = re.sub(r"\W+", "_", wanted.lower()).strip("_") or "table"
        base = f"{base}_" if keyword.iskeyword(base) else f"t_{base}" if base[0].isdigit() else base
        name = (
            base if base not in self.names else next(n for i in range(2, 999) if (n := f"{base}_{i}") not in self.names)
        )
        self.names.add(name)
        return name

    def assign(self, name: str, value: Chain | str) -> str:
        """`name = value`; gives the name."""
        self.last = (name, value, len(self.lines))
        self.lines += _statement(f"{name} = ", value, 4)
        return name

    def statement(self, value: Chain) -> list[str]:
        """A statement that is just a value, for what it does."""
        return _statement("", value, 4)

    def give_back(self, name: str) -> None:
        """End with `return`: of the last value itself if it was just assigned to that name."""
        if self.last and self.last[0] == name:
            _, value, at = self.last
            self.lines[at:] = _statement("return ", value, 4)
        else:
            self.lines.append(f"    return {name}")


def literal(value: object) -> str:
    """A Python literal, strings in double quotes where that needs no escape."""
    text = repr(value)
    if isinstance(value, str) and text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    if isinstance(value, list | tuple) and not isinstance(value, str):
        inner = ", ".join(literal(item) for item in value)
        return f"[{inner}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(k)}: {literal(v)}" for k, v in value.items()) + "}"
    return text


def _flat(argument: str | Chain) -> str:
    return argument if isinstance(argument, str) else argument.flat()


def _statement(start: str, value: Chain | str, indent: int) -> list[str]:
    pad = " " * indent
    text = f"{pad}{start}{_flat(value)}"
    if len(text) <= WIDTH or isinstance(value, str):
        return [text]
    if len(value.calls) == 1:
        dot = "." if value.head else ""
        return _broken(f"{pad}{start}{value.head}{dot}{value.calls[0].name}", value.calls[0], indent)
    lines = [f"{pad}{start}("]
    for i, call in enumerate(value.calls):
        name = f"{pad}    {value.head if i == 0 else ''}.{call.name}"
        text = f"{name}({', '.join(map(_flat, call.arguments))})"
        lines += [text] if len(text) <= WIDTH else _broken(name, call, indent + 4)
    return [*lines, f"{pad})"]


def _broken(name: str, call: Call, indent: int) -> list[str]:
    """A call with its arguments on lines of their own: on one if they fit, else one a line."""
    if not call.arguments:
        return [f"{name}()"]
    inner = " " * (indent + 4)
    together = inner + ", ".join(map(_flat, call.arguments))
    if len(together) <= WIDTH:
        body = [together]
    else:
        body = [line for argument in call.arguments for line in _argument(argument, indent + 4)]
    return [f"{name}(", *body, " " * indent + ")"]


def _argument(argument: str | Chain, indent: int) -> list[str]:
    text = f"{' ' * indent}{_flat(argument)},"
    if len(text) <= WIDTH or isinstance(argument, str) or len(argument.calls) < 1:
        return [text]
    *first, last = argument.calls
    head = " " * indent + Chain(argument.head, tuple(first)).flat()
    *lines, end = _broken(f"{head}.{last.name}", last, indent)
    return [*lines, f"{end},"]


def module(
    comment: Iterable[str], imports: Iterable[tuple[str, str]], functions: Sequence[str], main: Sequence[str]
) -> str:
    """A whole Python module."""
    names: dict[str, list[str]] = {}
    for source, name in sorted(imports):
        names.setdefault(source, []).append(name)
    ours = [f"from {source} import {', '.join(found)}" for source, found in names.items()]
    parts = [
        "\n".join(f"# {line}".rstrip() for line in comment),
        "from pyspark.sql import DataFrame, SparkSession\nfrom pyspark.sql import functions as F",
        *(["\n".join(ours)] if ours else []),
    ]
    head = "\n\n".join(parts)
    if not any("F." in function for function in functions):
        head = head.replace("\nfrom pyspark.sql import functions as F", "")
    body = "\n\n\n".join([head, *functions])
    start = "\n".join(['if __name__ == "__main__":', *(f"    {line}" for line in main)])
    return f"{body}\n\n\n{start}\n"
