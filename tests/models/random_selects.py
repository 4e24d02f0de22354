"""Random queries over one source: rows, windows, aggregates, ranks, OVER, subqueries, set operations."""

from __future__ import annotations

from dataclasses import replace

from tests.models.random_expressions import AGGREGATES, CALL, PLACE, Expressions
from tests.models.random_parts import KEYS, RESULT_KINDS, SESSION, WINDOW, WINDOWS, Parts
from tests.models.random_rows import Rows, columns_of, nested, select
from tests.models.random_tables import Column

GROUP_WINDOWS = (
    "TUMBLE({}, INTERVAL '5' MINUTE)",
    "HOP({}, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE)",
    SESSION,
)
FRAMES = ("", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", " ROWS UNBOUNDED PRECEDING")


class Selects(Parts):
    """Their texts, as those that stand in parentheses."""

    def rows(self, depth: int) -> Rows:
        """Columns and expressions of rows, with a condition."""
        of, alias = self.source(depth), self.alias()
        made = self.expressions((alias, of), subqueries=True)
        kept = [each for each in of.columns if each.name in ("id", "k", "ts", "window_start", "window_end")]
        if not self.choices.below(4):
            items = [(each.name, each) for each in of.columns]
        else:
            items = [(each.name, each) for each in kept] + self.selected(made, [each.name for each in kept])
        where = self.condition(made)
        has = [each.name for _, each in items]
        time = of.time and "ts" in has
        return Rows(select(items, f"{of.text} AS {alias}{where}"), columns_of(items), time, of.id and "id" in has)

    def windows_of_rows(self, depth: int) -> Rows:
        of = self.windows()
        alias = self.alias()
        made = self.expressions((alias, of))
        kept = [each for each in of.columns if each.name in ("id", "k", "window_start", "window_end", "window_time")]
        items = [(each.name, each) for each in kept] + self.selected(made, [each.name for each in kept])
        return Rows(select(items, f"{of.text} AS {alias}{self.condition(made)}"), columns_of(items), False, of.id)

    def window_aggregate(self, depth: int) -> Rows:
        """GROUP BY of a window function; its time is an event time again."""
        session = self.streaming and self.choices.chance(6)  # Flink has none in batch
        of, again = self.windows(session), self.choices.chance(3)
        made = self.expressions(("", of))
        keys = [each for each in of.columns if session and each.name == "k"]
        items = [(each.name, each) for each in (*WINDOW, *keys)]
        if again:
            items.append(("window_time", Column("ts", of.kind("window_time"))))
        return self.grouped(of, made, items, again)

    def grouped(self, of: Rows, made: Expressions, fixed: list[tuple[str, Column]], time: bool = False) -> Rows:
        """GROUP BY of the fixed columns and other keys."""
        given = ["id", "ts", *(text for text, _ in fixed)]
        plain = [each for each in of.columns if each.kind in KEYS and each.name not in given]
        keys = [(each.name, each) for each in self.choices.several(plain, self.choices.below(3))]
        if self.choices.chance(4) and not of.has("e"):
            kind = self.choices.one(KEYS)
            keys.append((made.of(kind, 1), Column("e", kind)))
        texts, sets = [text for text, _ in keys], ""
        if len(keys) > 1 and self.choices.chance(3):
            both = ", ".join(texts)
            sets = self.choices.one(
                (f"ROLLUP ({both})", f"CUBE ({both})", f"GROUPING SETS (({texts[0]}), ({both}), ())")
            )
        calls = []
        taken = [column.name for _, column in (*fixed, *keys)]
        names = [each for each in (f"a{at}" for at in range(12)) if each not in taken]
        for name in names[: 1 + self.choices.below(5)]:
            with self.choices.part():
                kind = self.choices.one(made.present(AGGREGATES))
                calls.append((made.aggregate(kind), Column(name, kind)))
        if sets:
            calls.append((f"GROUPING_ID({texts[0]}, {texts[1]})", Column(names[-1], "BIGINT")))
        where = self.condition(made)
        with self.choices.part():
            having = f" HAVING {made.aggregate('BOOLEAN')}" if self.choices.chance(4) else ""
        by = ", ".join([*(text for text, _ in fixed), *([sets] if sets else texts)])
        grouping = f" GROUP BY {by}" if by else ""
        items = [*fixed, *keys, *calls]
        return Rows(select(items, f"{of.text}{where}{grouping}{having}"), columns_of(items), time)

    def aggregate(self, depth: int) -> Rows:
        of = self.source(depth)
        text = of.text if of.name else f"{of.text} AS {self.alias()}"
        return self.grouped(replace(of, text=text), self.expressions(("", of)), [])

    def group_window(self, depth: int) -> Rows:
        of = self.timed("" if self.streaming else "TIMESTAMP")
        window = self.choices.one(GROUP_WINDOWS).format("ts")
        function, inside = window.split("(", 1)
        made = self.expressions(("", of))
        fixed = [
            (f"{function}_START({inside}", Column("ws", "TIMESTAMP")),
            (f"{function}_END({inside}", Column("we", "TIMESTAMP")),
        ]
        found = self.grouped(of, made, fixed)
        by = f"GROUP BY {fixed[0][0]}, {fixed[1][0]}"
        return replace(found, text=found.text.replace(by, f"GROUP BY {window}"))

    def top_n(self, depth: int) -> Rows:
        """The first rows of each partition, without ties."""
        of = nested(self.windows_of_rows(depth)) if self.streaming or self.choices.below(2) else self.source(depth)
        if not of.id:
            of = self.timed(id=True)
        made = self.expressions(("", of))
        by = ["window_start", "window_end"] if of.windowed else []
        by += [each.name for each in self.choices.several([each for each in of.columns if each.kind in KEYS], 1)]
        order = made.of(self.choices.one(("INT", "STRING", "DECIMAL", "BIGINT", "DATE")), 1)
        direction = self.choices.one(("", " DESC", " DESC NULLS LAST", " ASC NULLS FIRST"))
        if self.streaming:
            order, direction = "id", self.choices.one(("", " DESC"))
        rank = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(by)} ORDER BY {order}{direction}, id) AS place"
        rank = rank.replace("id, id", "id").replace("id DESC, id", "id DESC")
        names = ", ".join(each.name for each in of.columns)
        text = f"SELECT {names} FROM (SELECT *, {rank} FROM {of.text}) WHERE place <= {1 + self.choices.below(3)}"
        return Rows(text, of.columns, False, True)

    def first_or_last(self, depth: int) -> Rows:
        """The first or last row by time, of a key or of a key and a window."""
        of = next(each for each in self.named if each.text == "w")
        keys = [each.name for each in self.choices.several([each for each in of.columns if each.kind in KEYS], 1)]
        kept, source = [each for each in of.columns if each.name != "ts"], of.text
        if self.choices.below(2):
            source = f"TABLE({self.choices.one(WINDOWS).format('TABLE w, DESCRIPTOR(ts)')})"
            keys += ["window_start", "window_end"]
            kept += WINDOW
        direction = self.choices.one(("", " DESC"))
        rank = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY ts{direction}) AS place"
        names = ", ".join(each.name for each in kept)
        text = f"SELECT {names} FROM (SELECT *, {rank} FROM {source}) WHERE place = 1"
        return Rows(text, tuple(kept), False, True)

    def over(self, depth: int) -> Rows:
        of, alias = self.source(depth), self.alias()
        if not of.id or of.windowed or not of.has("k"):
            of = self.timed(id=True)
        made = self.expressions((alias, of), subqueries=True)
        items = [(f"{alias}.id", Column("id", "INT"))]
        for at in range(1 + self.choices.below(2)):
            with self.choices.part():
                kind = self.choices.one([each for each in AGGREGATES if each != "BOOLEAN"])
                call = self.choices.one(
                    ("aggregate", "ROW_NUMBER()", "RANK()", "LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE")
                )
                frame = ""
                if call == "aggregate":
                    call = self.choices.one([each for each in AGGREGATES[kind] if CALL.fullmatch(each)])
                    call = PLACE.sub(lambda place: made.of(place[1], 1), call.replace("DISTINCT ", ""))
                    frame = self.choices.one(FRAMES)
                elif call in ("ROW_NUMBER()", "RANK()"):
                    kind = "INT"  # BIGINT in Flink
                else:
                    call = f"{call}({made.of(kind, 1)})"
                partition = f"PARTITION BY {alias}.k " if self.choices.below(2) else ""
                items.append((f"{call} OVER ({partition}ORDER BY {alias}.id{frame})", Column(f"o{at}", kind)))
        items += self.selected(made, ("id", "o0", "o1"), 2)
        return Rows(select(items, f"{of.text} AS {alias}{self.condition(made)}"), columns_of(items), False, True)

    def subquery(self, depth: int) -> Rows:
        """IN, NOT IN, EXISTS of a query."""
        of, alias = self.source(depth), self.alias()
        inner, other = self.choices.one(self.named), self.alias()
        made = self.expressions((alias, of))
        items = self.selected(made, ())
        inside = self.expressions((other, inner))
        kind = self.choices.one(("INT", "STRING", "DECIMAL", "BIGINT"))
        query = f"SELECT {inside.of(kind)} FROM {inner.text} AS {other}{self.condition(inside)}"
        alike = f"SELECT * FROM {inner.text} AS {other} WHERE {self.equal((alias, of), (other, inner))}"
        test = self.choices.one(
            (
                f"{made.of(kind, 1)} IN ({query})",
                f"{made.of(kind, 1)} NOT IN ({query})",
                f"EXISTS ({alike})",
                f"NOT EXISTS ({alike}{self.condition(inside, ' AND ')})",
            )
        )
        return Rows(
            select(items, f"{of.text} AS {alias} WHERE {test}{self.condition(made, ' AND ')}"), columns_of(items)
        )

    def distinct(self, depth: int) -> Rows:
        found = self.rows(depth)
        return replace(found, text=found.text.replace("SELECT ", "SELECT DISTINCT ", 1), time=False, id=False)

    def set_operation(self, depth: int) -> Rows:
        kinds = [self.choices.one(RESULT_KINDS) for _ in range(1 + self.choices.below(3))]
        names = [Column(f"u{at}", kind) for at, kind in enumerate(kinds)]
        queries = []
        for _ in range(2):
            with self.choices.part():
                of, alias = self.source(depth), self.alias()
                made = self.expressions((alias, of))
                items = [(made.of(each.kind), each) for each in names]
                queries.append(select(items, f"{of.text} AS {alias}{self.condition(made)}"))
        word = (
            "UNION ALL"
            if self.streaming
            else self.choices.one(("UNION ALL", "UNION", "INTERSECT", "EXCEPT", "EXCEPT ALL", "INTERSECT ALL"))
        )
        return Rows(f"{queries[0]} {word} {queries[1]}", tuple(names))

    def union_of_tables(self, depth: int) -> Rows:
        """Two tables as one, with an event time."""
        one, other = self.timed(), self.timed()
        kinds = {each.name: each.kind for each in one.columns}
        shared = [
            each for each in other.columns if kinds.get(each.name) == each.kind and not each.kind.startswith("ROW")
        ]
        names = ", ".join(each.name for each in shared)
        if not {"id", "ts"} <= {each.name for each in shared}:
            return self.rows(depth)
        text = f"SELECT {names} FROM {one.text} UNION ALL SELECT {names} FROM {other.text}"
        return Rows(text, tuple(shared), True, False)

    def values(self, depth: int) -> Rows:
        kinds = [self.choices.one(("INT", "STRING", "DECIMAL", "BOOLEAN")) for _ in range(2)]
        made = Expressions(self.choices, ())
        rows = ", ".join(f"({', '.join(made.of(kind, 0) for kind in kinds)})" for _ in range(1 + self.choices.below(3)))
        columns = tuple(Column(name, kind) for name, kind in zip(("a", "b"), kinds, strict=True))
        return Rows(f"SELECT a, b FROM (VALUES {rows}) AS {self.alias()} (a, b)", columns)

    def limited(self, depth: int) -> Rows:
        """ORDER BY with LIMIT, without ties."""
        of = self.timed(id=True)
        made = self.expressions(("", of))
        items = [("id", Column("id", "INT")), *self.selected(made, ("id",))]
        order = made.of(self.choices.one(("INT", "STRING", "TIMESTAMP", "DECIMAL")), 1) + self.choices.one(
            ("", " DESC")
        )
        order = "" if order[0] in "'-0123456789" else f"{order}, "
        where = self.condition(made)
        return Rows(
            f"{select(items, of.text)}{where} ORDER BY {order}id LIMIT {1 + self.choices.below(9)}",
            columns_of(items),
            False,
            True,
        )
