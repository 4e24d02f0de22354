"""Random INSERTs: tables that store the rows of queries in other types, and statement sets."""

from __future__ import annotations

from tests.models.random_parts import RESULT_KINDS, Parts
from tests.models.random_rows import select
from tests.models.random_tables import Column

# types that INSERT converts values of a kind to
STORED = {
    "INT": ("INT", "BIGINT", "DECIMAL(12, 2)", "DOUBLE", "FLOAT"),
    "BIGINT": ("BIGINT", "DECIMAL(20, 1)", "DOUBLE"),
    "DECIMAL": ("DECIMAL(20, 4)", "DECIMAL(12, 1)", "DOUBLE"),
    "DOUBLE": ("DOUBLE",),
    "FLOAT": ("FLOAT", "DOUBLE"),
    "STRING": ("STRING", "VARCHAR(3)", "CHAR(4)"),
    "BOOLEAN": ("BOOLEAN",),
    "DATE": ("DATE", "TIMESTAMP(3)"),
    "TIME": ("TIME",),
    "TIMESTAMP": ("TIMESTAMP(3)", "TIMESTAMP(0)", "TIMESTAMP_LTZ(3)", "DATE"),
    "LTZ": ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3)"),
}
SINK = "WITH ('connector' = 'filesystem', 'path' = '{folder}/%s', 'format' = 'json')"


class Inserts(Parts):
    """The statements, and the query of what they have stored."""

    def stored(self) -> str:
        """What INSERTs of one or two queries have stored. Their tables have one list of columns."""
        kinds = [self.choices.one(RESULT_KINDS) for _ in range(1 + self.choices.below(4))]
        columns = [Column(f"c{at}", kind) for at, kind in enumerate(kinds)]
        declared = ", ".join(f"{each.name} {self.choices.one(STORED[each.kind])}" for each in columns)
        queries = []
        for _ in range(1 + self.choices.below(2)):
            with self.choices.part():
                of, alias = self.source(1), self.alias()
                made = self.expressions((alias, of))
                items = [(made.of(each.kind), each) for each in columns]
                queries.append(select(items, f"{of.text} AS {alias}{self.condition(made)}"))
        inserts = [f"INSERT INTO o{at} {query}" for at, query in enumerate(queries)]
        for at in range(len(queries)):
            self.inserts += [f"DROP TABLE IF EXISTS o{at}", f"CREATE TABLE o{at} ({declared}) {SINK % f'o{at}'}"]
        whole_set = f"EXECUTE STATEMENT SET BEGIN {'; '.join(inserts)}; END"
        self.inserts += [whole_set] if len(inserts) > 1 else inserts
        return " UNION ALL ".join(f"SELECT {at} AS o, * FROM o{at}" for at in range(len(queries)))
