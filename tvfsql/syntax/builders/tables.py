"""Turns lark's trees of CREATE TABLE and ALTER TABLE into `statements`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lark import Token, Tree

from tvfsql.errors import Span, SqlSyntaxError
from tvfsql.syntax import ast, statements
from tvfsql.syntax.builders.window_calls import Builder, Node, child, children, found, has
from tvfsql.syntax.calls import decoded
from tvfsql.syntax.tokens import place_of, tokens_of, unquote
from tvfsql.syntax.types.words import declared_type

ENDS = ("NAME", "QUOTED", "STRING", "NUMBER", "CLOSE")  # kinds of words that can end an expression
GO_ON = ("AND", "OR", "NOT", "IN", "IS", "LIKE", "BETWEEN", "THEN", "ELSE", "WHEN", "CASE")  # and words that cannot


class TableBuilder(Builder):
    def create_table(self, tree: Node) -> statements.CreateTable:
        parts = self.parts(child(tree, "elements"))
        if parts.places:
            hint = "ALTER TABLE t ADD c INT FIRST"
            raise SqlSyntaxError("FIRST and AFTER are of ALTER TABLE", span=parts.places[0].column.span, hint=hint)
        options = [self.option(part) for each in children(tree, "options") for part in children(each, "option")]
        partitioned, distributed = child(tree, "partitioned"), child(tree, "distributed")
        query, like = child(tree, "query"), child(tree, "like")
        return statements.CreateTable(
            self.made(found(tree, "path")),
            parts.columns,
            parts.watermark,
            tuple(options),
            self.names(child(partitioned, "identifiers")) if partitioned else (),
            child(tree, "if_not_exists") is not None,
            self.span(tree),
            parts.primary_key,
            self.names(child(distributed, "identifiers")) if distributed else (),
            self.text(distributed) if distributed else "",
            has(tree, "REPLACE"),
            self.like(like) if like else None,
            parts.names,
            self.query(query) if query else None,
            self.comment(tree),
            has(tree, "TEMPORARY"),
        )

    def like(self, tree: Node) -> statements.Like:
        rules = (rule.children for rule in children(tree, "like_rule"))
        words = tuple((str(how).lower(), str(what).lower()) for how, what in rules)
        return statements.Like(self.path(found(tree, "path")), words, self.span(tree))

    def alter_table(self, tree: Node) -> statements.AlterTable:
        change = tree.children[-1]
        assert isinstance(change, Tree)
        return statements.AlterTable(
            self.path(found(tree, "path")), self.change(change), child(tree, "if_exists") is not None, self.span(tree)
        )

    def change(self, tree: Node) -> statements.Change:
        match tree.data:
            case "set_options":
                return statements.SetOptions(tuple(map(self.option, children(found(tree, "options"), "option"))))
            case "reset_options":
                return statements.ResetOptions(tuple(self.strings(tree)))
            case "rename_table":
                return statements.RenameTable(self.made(found(tree, "path")))
            case "rename_column":
                return statements.RenameColumn(*self.names(tree))
            case "add":
                return statements.Add(self.parts(child(tree, "elements") or tree))
            case "modify":
                return statements.Modify(self.parts(child(tree, "elements") or tree))
            case "drop_parts":
                return statements.DropParts(self.names(child(tree, "identifiers") or tree), has(tree, "WATERMARK"))
        raise AssertionError(f"the grammar gives {tree.data} and the builder does not know it")

    def parts(self, tree: Node | None) -> statements.Parts:
        """Columns, watermark and primary key."""
        if tree is None:
            return statements.Parts()
        marks = list(children(tree, "watermark"))
        if len(marks) > 1:
            raise SqlSyntaxError("a table can only have one WATERMARK", span=self.span(marks[1]))
        own = [
            (found(part, "identifier"), key) for part in children(tree, "column") for key in children(part, "own_key")
        ]
        keys = [(self.names(child(part, "identifiers")), part) for part in children(tree, "primary_key")]
        keys += [((self.name(name),), key) for name, key in own]
        if len(keys) > 1:
            raise SqlSyntaxError("a table can only have one PRIMARY KEY", span=self.span(keys[1][1]))
        columns = (
            self.column(part) if part.data == "column" else self.computed(part)
            for part in tree.children
            if isinstance(part, Tree) and part.data in ("column", "computed")
        )
        mark, key = self.watermark(marks[0]) if marks else None, keys[0][0] if keys else ()
        return statements.Parts(tuple(columns), mark, key, self.names(tree), tuple(self.positions(tree)))

    def positions(self, tree: Node) -> Iterator[statements.Position]:
        """The places of columns with FIRST or AFTER."""
        for part in tree.children:
            if isinstance(part, Tree) and part.data == "column" and (position := child(part, "position")) is not None:
                after = child(position, "identifier")
                yield statements.Position(self.name(found(part, "identifier")), self.name(after) if after else None)
            if isinstance(part, Tree) and part.data == "computed" and (words := self.place_words(part)):
                named = ast.Name(unquote(words[1]), place_of(words[1])) if words[1:] else None
                yield statements.Position(self.name(found(part, "identifier")), named)

    def place_words(self, tree: Node) -> list[Token]:
        """FIRST, or AFTER and a name, behind the expression of a computed column. The grammar reads them as parts of
        it, because they may be names.
        """
        words = tokens_of(self.sql, self.span(found(tree, "expression")))
        for count, word in ((1, "FIRST"), (2, "AFTER")):
            before = words[-count - 1 : -count]
            if before and words[-count].upper() == word and (before[0].isalnum() or before[0].type in ENDS):
                return [] if before[0].upper() in GO_ON else words[-count:]
        return []

    def column(self, tree: Node) -> statements.Column:
        kind = found(tree, "type")
        name = self.name(found(tree, "identifier"))
        metadata = child(tree, "metadata")
        key = next(self.strings(metadata), name.text) if metadata else None
        virtual = metadata is not None and has(metadata, "VIRTUAL")
        of = declared_type(tokens_of(self.sql, self.span(kind)), self.span(kind))
        if any(has(part, "NOT") for part in children(tree, "not_null")):
            of = replace(of, nullable=False)
        return statements.Column(name, of, self.comment(tree), key, virtual, self.text(kind))

    def computed(self, tree: Node) -> statements.ComputedColumn:
        name = self.name(found(tree, "identifier"))
        return statements.ComputedColumn(name, self.expression(tree), self.comment(tree))

    def watermark(self, tree: Node) -> statements.Watermark:
        return statements.Watermark(self.name(found(tree, "identifier")), self.expression(tree))

    def expression(self, tree: Node) -> ast.Expr:
        from tvfsql.syntax.queries.reader import parse_scalar

        span = self.span(found(tree, "expression"))
        if tree.data == "computed" and (words := self.place_words(tree)):
            span = Span(span.start, place_of(words[0]).start)
        return parse_scalar(self.sql[span.start : span.end], span)

    def comment(self, tree: Node) -> str | None:
        comment = child(tree, "comment")
        return next(self.strings(comment)) if comment else None

    def option(self, tree: Node) -> statements.Option:
        key, value = self.strings(tree)
        mark = child(tree, "unicode")
        if mark is not None:
            if self.text(mark).upper() != "U&":
                raise SqlSyntaxError(f"unexpected {self.text(mark)}", span=self.span(mark))
            try:
                value = decoded(value)
            except ValueError:
                raise SqlSyntaxError("no character has this number", span=self.span(tree), hint="U&'\\0001'") from None
        return statements.Option(key, value, self.span(tree))
