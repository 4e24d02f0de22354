"""Turns lark's trees of statements into `statements`."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy

from lark import Token, Tree

from tvfsql.errors import Span
from tvfsql.syntax import ast, statements
from tvfsql.syntax.builders.tables import TableBuilder
from tvfsql.syntax.builders.window_calls import Node, child, children, found, has
from tvfsql.syntax.databases import current
from tvfsql.syntax.tokens import unquote


class StatementBuilder(TableBuilder):
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
            case "alter_table":
                return self.alter_table(tree)
            case "create_view":
                columns = child(tree, "view_columns")
                return statements.CreateView(
                    self.made(found(tree, "path")),
                    tuple(self.name(found(part, "identifier")) for part in children(columns, "view_column")),
                    self.query(found(tree, "query")),
                    has(tree, "REPLACE"),
                    child(tree, "if_not_exists") is not None,
                    span,
                    has(tree, "TEMPORARY"),
                )
            case "alter_view":
                old, *new = children(tree, "path")
                change = self.made(new[0]) if new else self.query(found(tree, "query"))
                return statements.AlterView(self.path(old), change, span)
            case "create_function":
                (path,) = (part for part in tree.children if isinstance(part, Token) and part.type == "STRING")
                words = (str(part).upper() for part in tree.children if isinstance(part, Token) and part.type == "NAME")
                exists = child(tree, "if_not_exists") is not None
                name = self.function(found(tree, "path"))
                return statements.CreateFunction(name, unquote(path), next(words, ""), exists, self.span(path), span)
            case "insert":
                return self.insert(tree)
            case "statement_set":
                return statements.StatementSet(tuple(self.insert(part) for part in children(tree, "insert")), span)
            case "explain":
                stages = tuple(
                    token.lower() for token in tree.children if isinstance(token, Token) and token.type != "COMMA"
                )[1:]
                return statements.Explain(self._explained(tree), stages, span)
            case "call":
                arguments = tuple(self.constant(part) for part in children(tree, "argument"))
                return statements.Call(self.function(found(tree, "path")), arguments, span)
            case "declare":
                return statements.Declare(self.name(found(tree, "identifier")), span)
            case "set":
                key, value = (*self.settings(tree), None, None)[:2]
                return statements.SetOption(key, value, span)
            case "reset":
                return statements.Reset(next(self.settings(tree), None), span)
            case "show":
                return self.show(tree)
            case "show_create":
                return statements.ShowCreate(self.path(found(tree, "path")), span)
            case "describe":
                inner = child(tree, "query")
                file = next((part for part in tree.children if isinstance(part, Token) and part.type == "STRING"), None)
                if file is not None:
                    return statements.Describe(ast.Name(unquote(file), self.span(file)), span)
                return statements.Describe(self.query(inner) if inner else self.path(found(tree, "path")), span)
            case "summarize":
                keyword, query = self.span(tree.children[0]), child(tree, "query")
                read = [*query.scan_values(lambda part: True)] if query is not None else []
                if [part.type for part in read] == ["TABLE", "STRING"]:
                    keyword, query = Span(keyword.start, self.span(read[0]).end), None
                return statements.Summarize(keyword, query is not None, span)
            case "drop":
                kind = next(kind for kind in ("table", "view", "function") if has(tree, kind.upper()))
                name = (self.function if kind == "function" else self.path)(found(tree, "path"))
                return statements.Drop(kind, name, child(tree, "if_exists") is not None, span, has(tree, "TEMPORARY"))
            case "use_modules":
                return statements.UseModules(self.names(tree), span)
            case "create_catalog" | "create_database" | "use" | "use_catalog":
                return self.in_databases(tree)
        raise AssertionError(f"the grammar gives {tree.data} and the builder does not know it")

    def show(self, tree: Node) -> statements.Show:
        what = " ".join(str(part).lower() for part in tree.children[1:] if isinstance(part, Token))
        inside, pattern, databases = child(tree, "show_in"), child(tree, "show_like"), current()
        parts = self.name_parts(found(inside, "path")) if inside else []
        span = Span(parts[0].span.start, parts[-1].span.end) if parts else self.span(tree)
        of = ast.Name(".".join(part.text for part in parts), span) if parts else None
        if what == "columns" and inside:
            of = self.path(found(inside, "path"))
        like = None
        if pattern:
            like = statements.Pattern(next(self.strings(pattern)), has(pattern, "NOT"), has(pattern, "ILIKE"))
        in_database = parts if what in ("tables", "views") else []
        rows = databases.shown(what, parts if what == "databases" else [])
        place, exists = databases.key([*in_database, ast.Name("")]), databases.has(parts, what)
        return statements.Show(what, self.span(tree), place, rows, of, exists, like)

    def in_databases(self, tree: Node) -> statements.InDatabases:
        """A statement about catalogs and databases. Those of this parse change, because later names depend on it."""
        databases, exists = current(), child(tree, "if_not_exists") is not None
        span, outside = self.span(tree), None
        if tree.data == "create_catalog":
            name = self.name(found(tree, "identifier"))
            texts = [list(self.strings(option)) for option in children(child(tree, "options"), "option")]
            given = {text[0]: text[1] for text in texts}
            databases.create_catalog(name, given, exists=exists)
            return statements.InDatabases(f"created catalog {name.text}", deepcopy(databases), span)
        if tree.data == "use_catalog":
            databases.use_catalog(self.name(found(tree, "identifier")))
        elif tree.data == "use":
            parts = self.name_parts(found(tree, "path"))
            if (name_outside := databases.use(parts)) is not None:
                outside = ast.Name(name_outside, Span(parts[0].span.start, parts[-1].span.end))
        else:
            parts = self.name_parts(found(tree, "path"))
            databases.create_database(parts, exists=exists)
            return statements.InDatabases(f"created database {parts[-1].text}", deepcopy(databases), span)
        used = outside.text if outside is not None else f"{databases.catalog}.{databases.database}"
        return statements.InDatabases(f"using {used}", deepcopy(databases), span, outside)

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
            self._conflict(tree),
            tuple(
                (self.name(found(part, "identifier")), self.expression(part))
                for part in children(child(tree, "partition"), "fixed")
            ),
        )

    def _conflict(self, tree: Node) -> ast.Name | None:
        for token in tree.children:
            if isinstance(token, Token) and token.type == "ON_CONFLICT":
                return ast.Name(token.split()[-1].upper(), self.span(token))
        return None

    def _explained(self, tree: Node) -> ast.Query | statements.Insert | statements.StatementSet:
        if inner := child(tree, "query"):
            return self.query(inner)
        inserts = child(tree, "statement_set") or child(tree, "planned_set")
        if inserts is None:
            return self.insert(found(tree, "insert"))
        return statements.StatementSet(
            tuple(self.insert(part) for part in children(inserts, "insert")), self.span(inserts)
        )

    def settings(self, tree: Node) -> Iterator[str]:
        """The key and the value of SET, with or without quotes."""
        for part in tree.children:
            if isinstance(part, Tree):
                match part.children:
                    case [Token(type="STRING") as text]:
                        yield unquote(text)
                    case _:
                        yield self.text(part)
