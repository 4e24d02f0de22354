"""A compiled query, with one attribute per stage: from the syntax tree to the Python text that runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tvfsql.api.display import folded, short_columns
from tvfsql.api.explain import explain
from tvfsql.api.program import Program, Stages
from tvfsql.errors import UnsupportedError
from tvfsql.physical import copied_rows
from tvfsql.physical.refused.retractions import lost_updates
from tvfsql.physical.regular_joins import idle_retention
from tvfsql.physical.row_operators import unbounded_state
from tvfsql.plan.analysis.sharing import shared_by
from tvfsql.room import with_room
from tvfsql.secrets import without
from tvfsql.syntax.explain_words import PLAN

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, repr=False)
class Compiled(Stages):
    """A SELECT or an INSERT with all its stages. `str()` returns the code.

    `sql`: its text. `ast`: the syntax tree. `logical`: the plan before rules. `steps`: what each rule changed.
    `optimized`: the plan after rules. `physical`: the operators that run. `code`: the PySpark module.
    `sink`: the table of an INSERT. `mode`: "batch" or "streaming".
    """

    @cached_property
    def code(self) -> str:
        return Program((self,)).code

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings, a line each: on options without effect, in the first query of a script; on each operator of a
        stream with unbounded state; on aggregates that are computed from copies of each row; on deletes that
        TO_CHANGELOG leaves out; and on a retention that a join does not need.
        """
        return (
            *self.of_script,
            *unbounded_state(self.physical),
            *copied_rows.warnings(self.physical),
            *copied_rows.gaps(self.logical),
            *(lost_updates(self.logical) if self.mode == "streaming" else ()),
            *(idle_retention(self.logical, self.optimized) if self.mode == "streaming" else ()),
        )

    def __str__(self) -> str:
        return self.code

    def __repr__(self) -> str:
        """One line: mode, kind of statement, output columns. EXPLAIN shows the rest."""
        return f"<tvfsql {self.mode} {self._kind}: {short_columns(self.names_and_types)}>"

    def _repr_html_(self) -> str:
        """The plan as a picture; SQL, plan and code, without passwords, as texts that can be opened."""
        from tvfsql.api.page.picture import picture

        title = f"{self.mode} {self._kind}: {short_columns(self.names_and_types)}"
        physical = self.explain(PLAN).strip()
        texts = {"SQL": self.shown_sql, "Physical plan": physical, "PySpark": without(self.code)}
        return folded(title, texts, picture(self.physical))

    @property
    def _kind(self) -> str:
        return "query" if self.sink is None else f"INSERT INTO {self.sink.name}"

    @property
    def names_and_types(self) -> list[tuple[str, str]]:
        """The output columns and their types in Spark's DDL; "" for a type that only Spark knows."""
        return [(part.name, part.type.spark) for part in self.physical.schema]

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the output columns."""
        return self.physical.columns

    def explain(self, stage: str = "all", format: str = "text") -> str:
        """All stages, one of them (ast, logical, trace, physical, code), or the physical plan with a sentence for each
        operator (plan), as text, json, mermaid or html.

        The output is deterministic. Raises OptionError for any other stage or format.
        """
        return with_room(lambda: explain([self], stage, format))

    def dataframe(self, spark: SparkSession) -> DataFrame:
        """The rows as a DataFrame that runs exactly `code`; a streaming one in streaming mode.

        Raises DataError if a source cannot be read, OptionError if the ANSI mode of `spark` is off, and
        UnsupportedError for LIMIT in streaming mode.
        """
        if self.first_rows is not None:
            reason = "a streaming DataFrame has no LIMIT: who runs the stream stops it"
            raise UnsupportedError(reason, hint="collect(), to_pandas(), ... return the rows; or leave out LIMIT")
        return self.without_limit(spark)

    def without_limit(self, spark: SparkSession) -> DataFrame:
        """The same, of a stream without its LIMIT."""
        from tvfsql.runtime.host.failures import translated

        alone = Program((self,))
        with translated():
            if self.mode == "streaming" and shared_by([self.physical]):
                frame: DataFrame = alone.function("query")(alone.run("shared", spark))
            else:
                frame = alone.run("query", spark)
        return frame
