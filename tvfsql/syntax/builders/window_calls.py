"""Turns lark's trees into `ast` nodes, by syntax alone: the common parts, and window calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lark import Token, Tree

from tvfsql.errors import Span, SqlSyntaxError
from tvfsql.syntax import ast
from tvfsql.syntax.checks.units import not_a_unit
from tvfsql.syntax.databases import current
from tvfsql.syntax.interval import UNITS, parse_interval, unit_of
from tvfsql.syntax.tokens import closing, place_of, tokens_of, unquote

Node = Tree[Token]
ReadQuery = Callable[[Span], ast.Query]
ReadCall = Callable[[Span], Node]  # the tree of a window call


@dataclass(frozen=True)
class Builder:
    """The common parts of both grammars: names, paths, spans and the text between them."""

    sql: str
    read_query: ReadQuery

    def span(self, tree: Node | Token) -> Span:
        if isinstance(tree, Token):
            return Span(tree.start_pos or 0, tree.end_pos or 0)
        return Span(tree.meta.start_pos, tree.meta.end_pos)

    def text(self, tree: Node | Token) -> str:
        span = self.span(tree)
        return self.sql[span.start : span.end]

    def name(self, tree: Node | Token) -> ast.Name:
        token = tree.children[0] if isinstance(tree, Tree) else tree
        assert isinstance(token, Token)
        return ast.Name(unquote(token), self.span(token))

    def path(self, tree: Node) -> ast.Name:
        """A possibly qualified name of a table or view."""
        parts = self.name_parts(tree)
        return ast.Name(current().key(parts), Span(parts[0].span.start, parts[-1].span.end))

    def made(self, tree: Node) -> ast.Name:
        """The same for a table or view that is to be created."""
        parts = self.name_parts(tree)
        return ast.Name(current().key(parts, made=True), Span(parts[0].span.start, parts[-1].span.end))

    def function(self, tree: Node) -> ast.Name:
        """A possibly qualified function name. Functions are the same in all databases."""
        parts = self.name_parts(tree)
        current().key(parts, made=len(parts) > 1)
        return ast.Name(parts[-1].text, Span(parts[0].span.start, parts[-1].span.end))

    def name_parts(self, tree: Node) -> list[ast.Name]:
        return [self.name(part) for part in children(tree, "identifier")]

    def names(self, tree: Node | None) -> tuple[ast.Name, ...]:
        return tuple(self.name(part) for part in children(tree, "identifier")) if tree else ()

    def query(self, tree: Node) -> ast.Query:
        return self.read_query(self.span(tree))

    def strings(self, tree: Node) -> Iterator[str]:
        return (unquote(token) for token in tree.children if isinstance(token, Token) and token.type == "STRING")


@dataclass(frozen=True)
class WindowCallBuilder(Builder):
    read_call: ReadCall

    def build(self, tree: Node) -> ast.WindowCall:
        call = child(tree, "call")
        assert call is not None
        return self.call(call)

    def call(self, tree: Node) -> ast.WindowCall:
        function = tree.children[0]
        named = str(function).upper()
        arguments = tuple(self.argument(part, named, at) for at, part in enumerate(children(tree, "argument")))
        return ast.WindowCall(named, arguments, self.span(tree))

    def argument(self, tree: Node, function: str, at: int) -> ast.Argument:
        *named, value = tree.children
        name = self.name(named[0]) if named else None
        assert isinstance(value, Tree)
        if function == "WINDOWS" and (window := self.named_window(value)):
            return ast.Argument(name, window, self.span(tree))
        path = self.bare_path(value) if function == "GAP_FILL" else ()
        if path and (name.text.upper() == "DATA" if name else at == 0):
            return ast.Argument(name, self.bare_table(path), self.span(tree))
        if path and (name.text.upper() == "TIMECOL" if name else at == 1):
            table = path[-2].text if len(path) > 1 else None
            return ast.Argument(name, ast.Descriptor(path[-1:], self.span(value), table), self.span(tree))
        return ast.Argument(name, self.value(value), self.span(tree))

    def named_window(self, tree: Node) -> ast.NamedWindow | None:
        """A window of WINDOWS with its name; None if it is something else. The grammar skips over it."""
        tokens = tokens_of(self.sql, self.span(tree)) if tree.data == "other" else []
        if [token.type for token in tokens[:2]] != ["NAME", "OPEN"]:
            return None
        close = closing(tokens, 1)
        name = [token for token in tokens[close + 1 :] if token.upper() != "AS" or token is tokens[-1]]
        if len(name) != 1 or name[0].type not in ("NAME", "QUOTED"):
            return None
        call = self.build(self.read_call(Span(place_of(tokens[0]).start, place_of(tokens[close]).end)))
        return ast.NamedWindow(call, self.name(name[0]), self.span(tree))

    def bare_path(self, tree: Node) -> tuple[ast.Name, ...]:
        """The names of a path without TABLE or DESCRIPTOR, as RisingWave writes it; empty if it is something else."""
        words = tree.children
        dots = all(isinstance(word, Token) and word.type == "DOT" for word in words[1::2])
        names = all(isinstance(word, Token) and word.type in ("NAME", "QUOTED") for word in words[::2])
        if tree.data != "other" or not (dots and names and len(words) % 2):
            return ()
        return tuple(self.name(word) for word in words[::2] if isinstance(word, Token))

    def bare_table(self, path: tuple[ast.Name, ...]) -> ast.Input:
        span = Span(path[0].span.start, path[-1].span.end)
        key = current().key([*path])
        return ast.Input(ast.TableName(key, None, span, path[-1].text, len(path) > 1), span=span)

    def value(self, tree: Node) -> ast.Input | ast.Descriptor | ast.Interval | ast.Flag | ast.TextMap | ast.Other:
        span = self.span(tree)
        match tree.data:
            case "table":
                source = tree.children[1]
                assert isinstance(source, Tree)
                return self.input(tree, source)
            case "subquery":
                return self.input(tree, tree)
            case "descriptor":
                return ast.Descriptor(self.names(tree), span)
            case "interval":
                return self.interval(tree)
            case "true" | "false":
                return ast.Flag(tree.data == "true", span)
        return self.other(tree)

    def other(self, tree: Node) -> ast.TextMap | ast.Other:
        text, span = self.text(tree), self.span(tree)
        tokens = tokens_of(self.sql, span)
        if [token.upper() for token in tokens[:2]] == ["MAP", "["] and tokens[-1] == "]":
            strings, commas = tokens[2:-1:2], tokens[3:-1:2]
            if all(each.type == "STRING" for each in strings) and all(each.type == "COMMA" for each in commas):
                texts = [unquote(each) for each in strings]
                if len(texts) == len(commas) + 1 and len(texts) % 2 == 0:
                    return ast.TextMap(tuple(zip(texts[::2], texts[1::2], strict=True)), span)
        match tree.children:
            case [Token(type="NAME") as function, Tree(children=[_, *words, _])]:
                names = [word for word in words[::2] if isinstance(word, Token) and word.type in ("NAME", "QUOTED")]
                commas = [word for word in words[1::2] if isinstance(word, Token) and word.type == "COMMA"]
                if names and len(names) + len(commas) == len(words):
                    return ast.Other(text, span, str(function).upper(), tuple(self.name(word) for word in names))
        return ast.Other(text, span)

    def input(self, tree: Node, source: Node) -> ast.Input:
        keys = self.names(child(tree, "partition"))
        order = [
            (self.name(found(part, "identifier")), part.children[1:])
            for part in children(child(tree, "order"), "sorted")
        ]
        down = tuple(name for name, how in order if how and str(how[0]).upper() != "ASC")
        return ast.Input(self.source(source), keys, tuple(name for name, _ in order), down, span=self.span(tree))

    def source(self, tree: Node) -> ast.Relation:
        span = self.span(tree)
        match tree.data:
            case "subquery":
                query = child(tree, "query")
                assert query is not None
                return ast.Derived(self.query(query), None, span)
            case "nested":
                call = child(tree, "call")
                assert call is not None
                return ast.WindowTable(self.call(call), None, span)
            case "file":
                (literal,) = tree.children
                assert isinstance(literal, Token)
                path = unquote(literal)
                return ast.TableName(path, None, span, path)
        parts = self.name_parts(tree)
        return ast.TableName(self.path(tree).text, None, span, parts[-1].text, len(parts) > 1)

    def interval(self, tree: Node) -> ast.Interval:
        tokens = [part for part in tree.children if isinstance(part, Token)]
        sign = next((str(token) for token in tokens if token.type == "SIGN"), "+")
        text = next(token for token in tokens if token.type == "STRING")
        units = [unit_of(token) for token in tokens if token.type == "NAME"]
        for token in tokens:
            if token.type == "NAME" and unit_of(token) is None:
                raise not_a_unit(token, self.span(token), UNITS)
        first, *to = [unit for unit in units if unit]
        try:
            ms, months = parse_interval(unquote(text), first, *to)
        except ValueError as error:
            raise SqlSyntaxError(str(error), span=self.span(text)) from None
        factor = -1 if sign == "-" else 1
        return ast.Interval(factor * ms, factor * months, self.span(tree))


def children(tree: Node | None, data: str) -> Iterator[Node]:
    return (part for part in (tree.children if tree else ()) if isinstance(part, Tree) and part.data == data)


def child(tree: Node | None, data: str) -> Node | None:
    return next(children(tree, data), None)


def found(tree: Node, data: str) -> Node:
    part = child(tree, data)
    assert part is not None, f"the grammar promises a {data} in {tree.data}"
    return part


def has(tree: Node, token: str) -> bool:
    return any(isinstance(part, Token) and part.type == token for part in tree.children)
