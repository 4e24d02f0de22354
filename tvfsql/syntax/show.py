"""The syntax tree as text and as data, for EXPLAIN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from tvfsql.plan.values.times import duration
from tvfsql.syntax import ast, statements


def tree(node: Any) -> str:
    """One node per line, its parts indented below it; parts that fit are on the same line."""
    return "\n".join(_lines(node, "", ""))


def data(node: Any) -> Any:
    """The same as dicts, lists and strings."""
    if isinstance(node, tuple):
        return [data(item) for item in node]
    if (text := _inline(node)) is not None:
        return text
    parts = {name: data(value) for name, value in _parts(node)}
    return {"node": type(node).__name__, **parts}


def _lines(node: Any, head: str, rest: str) -> Iterator[str]:
    inline = [(name, text) for name, value in _parts(node) if (text := _inline(value)) is not None]
    inner = ", ".join(f"{name}=[{text}]" for name, text in inline)
    yield f"{head}{type(node).__name__}({inner})" if inner else f"{head}{type(node).__name__}"
    below = [(name, item) for name, value in _parts(node) if _inline(value) is None for item in _items(value)]
    for i, (name, item) in enumerate(below):
        last = i == len(below) - 1
        yield from _lines(item, f"{rest}{'+-' if last else ':-'} {name}: ", rest + ("   " if last else ":  "))


def _parts(node: Any) -> Iterator[tuple[str, Any]]:
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(node, ast.Ordinary) and field.name == "sources":
            value = tuple(relation for _, relation in node.sources)
        if field.compare and value not in (None, (), False, 0, ""):
            yield field.name, value


def _items(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) and not hasattr(value, "_fields") else (value,)


def _inline(value: Any) -> str | None:
    """The value as text if it fits on its parent's line: words, expressions, and lists of them; else None."""
    match value:
        case ast.Name(text):
            return text
        case ast.Expr() | ast.KeySet():
            return str(value)
        case ast.Interval(ms, months):
            return f"{months} months" if months else duration(ms)
        case ast.Descriptor(columns):
            return f"DESCRIPTOR({', '.join(name.text for name in columns)})"
        case ast.Flag(flag):
            return str(flag).upper()
        case ast.Alias(name, columns):
            return f"{name}({', '.join(columns)})" if columns else name
        case ast.SelectItem(None, _, table):
            return f"{table}.*" if table else "*"
        case ast.SelectItem(expr, alias):
            return f"{expr} AS {alias.text}" if alias else str(expr)
        case ast.OrderItem(expr, descending):
            return f"{expr} DESC" if descending else str(expr)
        case statements.Option(key, text):
            return f"'{key}' = '{text}'"
        case tuple():
            texts = [_inline(item) for item in value]
            return ", ".join(text for text in texts if text) if all(text is not None for text in texts) else None
        case _ if not is_dataclass(value):
            return str(value.sql(dialect="spark")) if hasattr(value, "sql") else str(value)
    return None
