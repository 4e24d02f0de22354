"""Random joins: of rows, windows, intervals and versions, with UNNEST and LATERAL."""

from __future__ import annotations

from tests.models.random_expressions import Expressions
from tests.models.random_parts import KEYS, WINDOW, WINDOWS
from tests.models.random_rows import Rows, columns_of, nested, select
from tests.models.random_selects import Selects
from tests.models.random_tables import Column


class Joins(Selects):
    """Their texts, as those that stand in parentheses."""

    def join(self, depth: int) -> Rows:
        left, right = (self.alias(), self.source(depth)), (self.alias(), self.source(depth))
        made = self.expressions(left, right)
        kind = self.choices.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        on = self.equal(left, right)
        if kind == "JOIN":
            on += self.condition(made, " AND ")
        items = self.selected(made, (), 4)
        source = f"{left[1].text} AS {left[0]} {kind} {right[1].text} AS {right[0]} ON {on}"
        return Rows(select(items, source + self.condition(made)), columns_of(items))

    def using(self, depth: int) -> Rows:
        left, right = self.with_id(), self.with_id()
        others = [each for each in right.columns if each.name != "id" and not left.has(each.name)]
        columns = (*left.columns, *others)
        names = ", ".join(["id", *(each.name for each in others)])
        kind = self.choices.one(("JOIN", "LEFT JOIN"))
        of = Rows("", columns)
        made = Expressions(self.choices, [each for each in columns if each.name != "id"])
        items = [("id", Column("id", "INT")), *self.selected(made, ("id",))]
        aliases = self.alias(), self.alias()
        text = f"{left.text} AS {aliases[0]} {kind} (SELECT {names} FROM {right.text}) AS {aliases[1]} USING (id)"
        return Rows(select(items, text), columns_of(items), False, of.id)

    def window_join(self, depth: int) -> Rows:
        """A join of the same windows of two tables, or of their aggregates."""
        function, time, sides = self.choices.one(WINDOWS), "", list[tuple[str, Rows]]()
        for _ in range(2):
            with self.choices.part():
                of = self.timed(time)
                time = of.kind("ts")
                text = f"TABLE({function.format(f'TABLE {of.text}, DESCRIPTOR(ts)')})"
                of = Rows(text, (*of.columns, *WINDOW), False, of.id)
                items = [(each.name, each) for each in WINDOW]
                if self.choices.below(2):
                    found = self.grouped(of, self.expressions(("", of)), items)
                else:
                    made = self.expressions(("", of))
                    items += [(each.name, each) for each in of.columns if each.name in ("id", "k")]
                    items += self.selected(made, ("id", "k"))
                    found = Rows(select(items, of.text + self.condition(made)), columns_of(items))
                sides.append((self.alias(), nested(found)))
        left, right = sides
        on = " AND ".join(f"{left[0]}.{each.name} = {right[0]}.{each.name}" for each in WINDOW)
        keys = [
            (one.name, other.name)
            for one in left[1].columns
            for other in right[1].columns
            if one.kind == other.kind and one.kind in KEYS
        ]
        if keys:
            one, other = self.choices.one(keys)
            on += f" AND {left[0]}.{one} = {right[0]}.{other}"
        elif self.streaming:
            return self.window_aggregate(depth)
        made = self.expressions(left, right)
        kind = self.choices.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI", "ANTI"))
        if kind in ("SEMI", "ANTI"):
            made = self.expressions(("", left[1]))
            items = self.selected(made, (), 4)
            word = "EXISTS" if kind == "SEMI" else "NOT EXISTS"
            source = (
                f"{left[1].text} AS {left[0]} WHERE {word} (SELECT * FROM {right[1].text} AS {right[0]} WHERE {on})"
            )
            return Rows(select(items, source), columns_of(items))
        items = [
            (f"{side[0]}.{each.name}", Column(f"w{at}{each.name[7]}", each.kind))
            for at, side in enumerate(sides)
            for each in WINDOW
        ]
        items += self.selected(made, ())
        text = f"{left[1].text} AS {left[0]} {kind} {right[1].text} AS {right[0]} ON {on}"
        return Rows(select(items, text), columns_of(items))

    def interval_join(self, depth: int) -> Rows:
        left = self.alias(), self.timed()
        time = left[1].kind("ts")
        right = self.alias(), self.timed(time)
        made = self.expressions(left, right)
        bounds = self.choices.one(
            (
                "{l}.ts BETWEEN {r}.ts - INTERVAL '5' MINUTE AND {r}.ts + INTERVAL '1' MINUTE",
                "{l}.ts >= {r}.ts - INTERVAL '1' MINUTE AND {l}.ts < {r}.ts + INTERVAL '1' MINUTE",
                "{r}.ts > {l}.ts AND {r}.ts <= {l}.ts + INTERVAL '10' MINUTE",
            )
        ).format(l=left[0], r=right[0])
        kind = self.choices.one(("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"))
        items = [
            (f"{left[0]}.ts", Column("lt", time)),
            (f"{right[0]}.ts", Column("rt", time)),
            *self.selected(made, ()),
        ]
        on = f"{self.equal(left, right)} AND {bounds}"
        return Rows(
            select(items, f"{left[1].text} AS {left[0]} {kind} {right[1].text} AS {right[0]} ON {on}"),
            columns_of(items),
        )

    def temporal_join(self, depth: int) -> Rows:
        """With the versions of the table that has a key; on streams only, as in Flink."""
        versions = self.named[len(self.world.tables) - 1]
        alike = [each for each in self.named if each.time and each.kind("ts") == versions.kind("ts")]
        alike = [each for each in alike if each.kind("k") == versions.kind("k")]
        of, alias, other = self.choices.one(alike), self.alias(), self.alias()
        made = self.expressions((alias, of), (other, versions))
        items = [(f"{alias}.id", Column("id", "INT")), *self.selected(made, ("id",))]
        kind = self.choices.one(("JOIN", "LEFT JOIN"))
        text = f"{of.text} AS {alias} {kind} p FOR SYSTEM_TIME AS OF {alias}.ts AS {other} ON {alias}.k = {other}.k"
        return Rows(select(items, text), columns_of(items))

    def unnested(self, depth: int) -> Rows:
        of, alias, other = self.with_id(), self.alias(), self.alias()
        made = self.expressions((alias, of))
        kind = self.choices.one(("INT", "STRING"))
        array = made.of(f"ARRAY<{kind}>", 1)
        join = self.choices.one(
            (
                f"CROSS JOIN UNNEST({array}) AS {other} (x)",
                f", UNNEST({array}) AS {other} (x)",
                f"LEFT JOIN UNNEST({array}) AS {other} (x) ON TRUE",
            )
        )
        items = [
            (f"{alias}.id", Column("id", "INT")),
            (f"{other}.x", Column("x", kind)),
            *self.selected(made, ("id", "x"), 2),
        ]
        return Rows(select(items, f"{of.text} AS {alias} {join}").replace(" , UNNEST", ", UNNEST"), columns_of(items))

    def lateral(self, depth: int) -> Rows:
        of, alias, other = self.choices.one(self.named), self.alias(), self.alias()
        inner, inside = self.choices.one(self.named), self.alias()
        made, within = self.expressions((alias, of)), self.expressions((inside, inner))
        items = self.selected(within, (), 2)
        where = f" WHERE {self.equal((inside, inner), (alias, of))}{self.condition(within, ' AND ')}"
        query = select(items, f"{inner.text} AS {inside}{where}")
        chosen = [(f"{other}.{each.name}", each) for _, each in items]
        chosen += self.selected(made, [each.name for _, each in items], 2)
        return Rows(select(chosen, f"{of.text} AS {alias}, LATERAL ({query}) AS {other}"), columns_of(chosen))
