"""compile(): one query, from text to all its stages."""

from __future__ import annotations

from collections.abc import Mapping

from tvfsql.api.compiled import Compiled
from tvfsql.api.script import Script, queries_of
from tvfsql.catalog import Catalog
from tvfsql.errors import BindError, Span
from tvfsql.options import Options
from tvfsql.syntax.parameters import texts_of


def compile(
    sql: str,
    catalog: Catalog | None = None,
    mode: str = "batch",
    options: Mapping[str, str] | None = None,
    params: Mapping[str, object] | None = None,
) -> Compiled:
    """Compile the one query or INSERT of a script. Other statements may create tables, views and functions for it.

    `catalog` provides more of these, and is not changed. `mode` is "batch" or "streaming"; `options` are the options of
    SET; `params` are values of the parameters that the script declares, by name. Starts neither Spark nor Java. Raises
    TvfSqlError, and BindError if the script has no query or several.
    """
    script = Script(catalog.copy() if catalog else Catalog(), Options.of(options), mode)
    script.parameters.given = texts_of(params or {}, sql)
    queries = [query for outcome in script.outcomes(sql) for query in queries_of(outcome)]
    if len(queries) != 1:
        found = "none" if not queries else str(len(queries))
        problem = f"compile() takes a script with one query, but this has {found}"
        error = BindError(problem, span=Span(0, len(sql)), hint="tvfsql.Session().execute(sql) runs such scripts")
        raise error.within(sql)
    return queries[0]
