"""Random scripts over random tables, in batch and on streams: views, CTEs, and a query that composes windows, ranks,
joins, subqueries and set operations, or INSERTs whose tables are read afterwards.

No query depends on the order in which rows come. A seed makes the same script always.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from tests.models.choices import Choices, Tree
from tests.models.random_inserts import Inserts
from tests.models.random_joins import Joins
from tests.models.random_rows import Rows
from tests.models.random_tables import Column, random_world
from tests.support.conformance import Situation, mentions

SCRIPTS_OF_A_WORLD = 25


@dataclass
class Script(Joins, Inserts):
    """A script in the making."""

    def query(self, depth: int) -> Rows:
        with self.choices.part():
            return self.choices.one(STREAMING if self.streaming else BATCH)(self, depth)

    def view(self) -> None:
        """Add a view, which later queries can read."""
        with self.choices.part():
            name = f"v{len(self.views)}"
            found = self.query(1)
            self.views.append(f"CREATE VIEW {name} AS {found.text}")
            self.named.append(replace(found, text=name, name=True))

    def whole(self) -> str:
        """The views that are read, and a query with the CTEs that are read."""
        for _ in range(self.choices.below(3)):
            self.view()
        stores = self.choices.chance(8)
        made: dict[str, str] = {}
        for _ in range(0 if stores else self.choices.below(3)):
            with self.choices.part():
                found, name = self.query(1), f"c{len(made)}"
                made[name] = found.text
                self.named.append(replace(found, text=name, name=True))
        found = Rows(self.stored(), ()) if stores else self.query(2)
        text, self.columns = found.text, found.columns
        ctes = [f"{name} AS ({cte})" for name, cte in read_of(made, text).items()]
        text = f"WITH {', '.join(ctes)} {text}" if ctes else text
        views = {view.split()[2]: view for view in self.views}
        self.views = [*read_of(views, " ".join([text, *self.inserts])).values()]
        return text


def read_of(named: dict[str, str], text: str) -> dict[str, str]:
    """The queries that the text reads by their names, or that those read."""
    read = ""
    for name, query in reversed(named.items()):
        if mentions(f"{text} {read}", name):
            read = f"{query} {read}"
    return {name: query for name, query in named.items() if query in read}


Form = Callable[[Script, int], Rows]
STREAMING: tuple[Form, ...] = (
    Script.rows,
    Script.window_aggregate,
    Script.window_aggregate,
    Script.window_aggregate,
    Script.windows_of_rows,
    Script.group_window,
    Script.top_n,
    Script.first_or_last,
    Script.window_join,
    Script.window_join,
    Script.interval_join,
    Script.temporal_join,
    Script.union_of_tables,
    Script.set_operation,
    Script.unnested,
)
BATCH: tuple[Form, ...] = (
    Script.rows,
    Script.rows,
    Script.aggregate,
    Script.aggregate,
    Script.window_aggregate,
    Script.window_aggregate,
    Script.windows_of_rows,
    Script.group_window,
    Script.top_n,
    Script.first_or_last,
    Script.over,
    Script.over,
    Script.join,
    Script.using,
    Script.window_join,
    Script.interval_join,
    Script.subquery,
    Script.subquery,
    Script.distinct,
    Script.set_operation,
    Script.union_of_tables,
    Script.unnested,
    Script.lateral,
    Script.values,
    Script.limited,
)


world_of = lru_cache(maxsize=4)(random_world)


class RandomScript(NamedTuple):
    """A script, the choices that made it, and the columns of its result. They are unknown where it stores rows."""

    script: Situation
    made: Tree
    columns: tuple[Column, ...]


def random_script(seed: int, mode: str, given: Tree | None = None) -> RandomScript:
    """The script of a seed, or of choices that are given."""
    world = world_of(seed // SCRIPTS_OF_A_WORLD)
    choices = Choices(seed, given)
    script = Script(choices, world, mode == "streaming")
    sql = script.whole()
    text = " ".join([*script.views, *script.inserts, sql])
    tables = [each.table for each in world.tables if mode == "batch" or mentions(text, each.table.name)]
    made = Situation(
        "random",
        str(seed),
        "",
        sql,
        tuple(tables),
        tuple(script.views),
        (mode,),
        world.zone,
        inserts=tuple(script.inserts),
    )
    return RandomScript(made, choices.made, script.columns)
