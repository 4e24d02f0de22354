"""lark's trees become `ast` nodes. No meaning is looked at here, only the shape of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lark import Token, Tree

from tvfsql.errors import Span, SqlSyntaxError
from tvfsql.syntax import ast, statements
from tvfsql.syntax.interval import UNITS, parse_interval, unit_of

Node = Tree[Token]
ReadQuery = Callable[[Span], ast.Query]


@dataclass(frozen=True)
class _Builder:
    """What both grammars share: names, paths, spans and the text between them."""

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
        """A possibly qualified name. There is one catalog and one database, so the last part is the name."""
        parts = [self.name(part) for part in children(tree, "identifier")]
        known = ("default_catalog", "default_database")
        for part in parts[:-1]:
            if part.text.lower() not in known:
                raise SqlSyntaxError(
                    f"there is no catalog or database {part.text}",
                    span=part.span,
                    hint=f"write {parts[-1].text} alone: tables live in default_catalog.default_database",
                )
        return ast.Name(parts[-1].text, Span(parts[0].span.start, parts[-1].span.end))

    def names(self, tree: Node | None) -> tuple[ast.Name, ...]:
        return tuple(self.name(part) for part in children(tree, "identifier")) if tree else ()

    def blanked(self, tree: Node) -> tuple[str, Span]:
        """The text up to the end of the tree with all before it blanked out, and the tree's place."""
        span = self.span(tree)
        before = "".join(char if char == "\n" else " " for char in self.sql[: span.start])
        return before + self.sql[span.start : span.end], span

    def query(self, tree: Node) -> ast.Query:
        return self.read_query(self.span(tree))


class WindowCallBuilder(_Builder):
    def build(self, tree: Node) -> ast.WindowCall:
        call = child(tree, "call")
        assert call is not None
        return self.call(call)

    def call(self, tree: Node) -> ast.WindowCall:
        function = tree.children[0]
        arguments = tuple(self.argument(part) for part in children(tree, "argument"))
        return ast.WindowCall(str(function).upper(), arguments, self.span(tree))

    def argument(self, tree: Node) -> ast.Argument:
        *named, value = tree.children
        name = self.name(named[0]) if named else None
        assert isinstance(value, Tree)
        return ast.Argument(name, self.value(value), self.span(tree))

    def value(self, tree: Node) -> ast.Input | ast.Descriptor | ast.Interval | ast.Flag | ast.Other:
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
        return ast.Other(self.text(tree), span)

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
        return ast.TableName(self.path(tree).text, None, span)

    def interval(self, tree: Node) -> ast.Interval:
        tokens = [part for part in tree.children if isinstance(part, Token)]
        sign = next((str(token) for token in tokens if token.type == "SIGN"), "+")
        text = next(token for token in tokens if token.type == "STRING")
        units = [unit_of(token) for token in tokens if token.type == "NAME"]
        for token in tokens:
            if token.type == "NAME" and unit_of(token) is None:
                raise SqlSyntaxError(
                    f"{token} is no unit of time", span=self.span(token), hint="units: " + ", ".join(UNITS)
                )
        first, *to = [unit for unit in units if unit]
        try:
            ms, months = parse_interval(unquote(text), first, *to)
        except ValueError as error:
            raise SqlSyntaxError(str(error), span=self.span(text)) from None
        factor = -1 if sign == "-" else 1
        return ast.Interval(factor * ms, factor * months, self.span(tree))


class StatementBuilder(_Builder):
    def build(self, tree: Node) -> statements.Statement:
        body = tree.children[0]
        assert isinstance(body, Tree)
        return self.statement(body)

    def statement(self, tree: Node) -> statements.Statement:
        span = self.span(tree)
        match tree.data:
            case "query":
                return self.query(tree)
            case "create_table":
                return self.create_table(tree)
            case "create_view":
                return statements.CreateView(
                    self.path(found(tree, "path")),
                    self.names(child(tree, "identifiers")),
                    self.query(found(tree, "query")),
                    has(tree, "REPLACE"),
                    child(tree, "if_not_exists") is not None,
                    span,
                )
            case "create_function":
                (path,) = (part for part in tree.children if isinstance(part, Token) and part.type == "STRING")
                words = (str(part).upper() for part in tree.children if isinstance(part, Token) and part.type == "NAME")
                exists = child(tree, "if_not_exists") is not None
                name = self.path(found(tree, "path"))
                return statements.CreateFunction(name, unquote(path), next(words, ""), exists, self.span(path), span)
            case "insert":
                return self.insert(tree)
            case "statement_set":
                return statements.StatementSet(tuple(self.insert(part) for part in children(tree, "insert")), span)
            case "explain":
                stages = tuple(token.lower() for token in tree.children if isinstance(token, Token))[1:]
                return statements.Explain(self._explained(tree), stages, span)
            case "call":
                arguments = tuple(self.constant(part) for part in children(tree, "argument"))
                return statements.Call(self.path(found(tree, "path")), arguments, span)
            case "set":
                key, value = (*self.strings(tree), None, None)[:2]
                return statements.SetOption(key, value, span)
            case "reset":
                return statements.Reset(next(self.strings(tree), None), span)
            case "show":
                return statements.Show(
                    " ".join(str(part).lower() for part in tree.children[1:] if part is not None), span
                )
            case "show_create":
                return statements.ShowCreate(self.path(found(tree, "path")), span)
            case "describe":
                return statements.Describe(self.path(found(tree, "path")), span)
            case "drop":
                kind = next(kind for kind in ("table", "view", "function") if has(tree, kind.upper()))
                return statements.Drop(kind, self.path(found(tree, "path")), child(tree, "if_exists") is not None, span)
        raise AssertionError(f"the grammar gives {tree.data} and the builder does not know it")

    def constant(self, tree: Node) -> statements.Constant | ast.Other:
        match tree.children:
            case [Token(type="STRING") as text]:
                return statements.Constant("", unquote(text), self.span(tree))
            case [Token(type="NAME") as kind, Token(type="STRING") as text]:
                return statements.Constant(kind.upper(), unquote(text), self.span(tree))
        return ast.Other(self.text(tree), self.span(tree))

    def insert(self, tree: Node) -> statements.Insert:
        return statements.Insert(
            self.path(found(tree, "path")),
            self.names(child(tree, "identifiers")),
            self.query(found(tree, "query")),
            has(tree, "OVERWRITE"),
            self.span(tree),
        )

    def _explained(self, tree: Node) -> ast.Query | statements.Insert | statements.StatementSet:
        if inner := child(tree, "query"):
            return self.query(inner)
        inserts = child(tree, "statement_set") or child(tree, "planned_set")
        if inserts is None:
            return self.insert(found(tree, "insert"))
        return statements.StatementSet(
            tuple(self.insert(part) for part in children(inserts, "insert")), self.span(inserts)
        )

    def create_table(self, tree: Node) -> statements.CreateTable:
        marks = list(children(tree, "watermark"))
        if len(marks) > 1:
            raise SqlSyntaxError("a table has one WATERMARK at most", span=self.span(marks[1]))
        columns = tuple(
            self.column(part) if part.data == "column" else self.computed(part)
            for part in tree.children
            if isinstance(part, Tree) and part.data in ("column", "computed")
        )
        options = child(tree, "options")
        partitioned = child(tree, "partitioned")
        return statements.CreateTable(
            self.path(found(tree, "path")),
            columns,
            self.watermark(marks[0]) if marks else None,
            tuple(self.option(part) for part in children(options, "option")) if options else (),
            self.names(child(partitioned, "identifiers")) if partitioned else (),
            child(tree, "if_not_exists") is not None,
            self.span(tree),
        )

    def column(self, tree: Node) -> statements.Column:
        from tvfsql.syntax.dialect import parse_type

        kind = found(tree, "type")
        name = self.name(found(tree, "identifier"))
        metadata = child(tree, "metadata")
        key = next(self.strings(metadata), name.text) if metadata else None
        virtual = metadata is not None and has(metadata, "VIRTUAL")
        return statements.Column(name, parse_type(self.text(kind), self.span(kind)), self.comment(tree), key, virtual)

    def computed(self, tree: Node) -> statements.ComputedColumn:
        name = self.name(found(tree, "identifier"))
        return statements.ComputedColumn(name, self.expression(tree), self.comment(tree))

    def watermark(self, tree: Node) -> statements.Watermark:
        return statements.Watermark(self.name(found(tree, "identifier")), self.expression(tree))

    def expression(self, tree: Node) -> ast.Expr:
        from tvfsql.syntax.sql import parse_scalar

        return parse_scalar(*self.blanked(found(tree, "expression")))

    def comment(self, tree: Node) -> str | None:
        comment = child(tree, "comment")
        return next(self.strings(comment)) if comment else None

    def option(self, tree: Node) -> statements.Option:
        key, value = self.strings(tree)
        return statements.Option(key, value, self.span(tree))

    def strings(self, tree: Node) -> Iterator[str]:
        return (unquote(token) for token in tree.children if isinstance(token, Token) and token.type == "STRING")


def unquote(token: Token) -> str:
    """What a quoted name or a string stands for; other words stand for themselves."""
    if token.type not in ("STRING", "QUOTED"):
        return str(token)
    quote = token[0]
    return token[1:-1].replace(quote * 2, quote)


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
