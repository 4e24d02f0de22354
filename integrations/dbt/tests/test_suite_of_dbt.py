"""dbt's own suite for adapters, as far as it applies. What is not here, and why:

- Snapshots and what is made of them, `dbt clone`: they need MERGE or UPDATE, which tvfsql does not have.
- Incremental models with unique_key, merge, predicates, on_schema_change or microbatch: rows are only added.
- Other databases, grants, materialized views, functions, models in Python, catalog integrations: there is one database,
  without users.
- Constraints: none is enforced but types. A contract compares columns and types (`test_flights.py`).
- Concurrency, hooks, store_failures and more of seeds: their fixtures are written in SQL of PostgreSQL.
- persist_docs, query comments, column types: they ask for the words of one database.
- Several ephemeral models: the test compares the text of a view with PostgreSQL's.
- Macros such as dateadd and hash: models are written in Flink's SQL, which has its own.
"""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.adapter.aliases.test_aliases import BaseAliasErrors, BaseAliases, BaseSameAliasDifferentSchemas
from dbt.tests.adapter.basic import expected_catalog
from dbt.tests.adapter.basic.test_adapter_methods import BaseAdapterMethod
from dbt.tests.adapter.basic.test_base import BaseSimpleMaterializations
from dbt.tests.adapter.basic.test_docs_generate import BaseDocsGenerate, BaseDocsGenReferences
from dbt.tests.adapter.basic.test_empty import BaseEmpty
from dbt.tests.adapter.basic.test_ephemeral import BaseEphemeral
from dbt.tests.adapter.basic.test_generic_tests import BaseGenericTests
from dbt.tests.adapter.basic.test_get_catalog_for_single_relation import BaseGetCatalogForSingleRelation
from dbt.tests.adapter.basic.test_incremental import BaseIncremental, BaseIncrementalBadStrategy
from dbt.tests.adapter.basic.test_singular_tests import BaseSingularTests
from dbt.tests.adapter.basic.test_singular_tests_ephemeral import BaseSingularTestsEphemeral
from dbt.tests.adapter.basic.test_table_materialization import BaseTableMaterialization
from dbt.tests.adapter.basic.test_validate_connection import BaseValidateConnection
from dbt.tests.adapter.dbt_debug.test_dbt_debug import BaseDebugPostgres
from dbt.tests.adapter.dbt_show.test_dbt_show import BaseShowDoesNotHandleDoubleLimit, BaseShowLimit
from dbt.tests.adapter.empty.test_empty import BaseTestEmpty
from dbt.tests.adapter.relations.test_changing_relation_type import BaseChangeRelationTypeValidator
from dbt.tests.adapter.relations.test_dropping_schema_named import BaseDropSchemaNamed
from dbt.tests.adapter.simple_seed.test_seed import BaseTestEmptySeed
from dbt.tests.adapter.unit_testing.test_case_insensitivity import BaseUnitTestCaseInsensivity
from dbt.tests.adapter.unit_testing.test_invalid_input import BaseUnitTestInvalidInput
from dbt.tests.adapter.utils.test_concat import BaseConcat
from dbt.tests.adapter.utils.test_current_timestamp import BaseCurrentTimestampAware
from dbt.tests.adapter.utils.test_except import BaseExcept
from dbt.tests.adapter.utils.test_intersect import BaseIntersect
from dbt.tests.adapter.utils.test_length import BaseLength
from dbt.tests.adapter.utils.test_replace import BaseReplace
from dbt_common.contracts.metadata import CatalogTable, ColumnMetadata, TableMetadata


class TestSimpleMaterializations(BaseSimpleMaterializations): ...


class TestSingularTests(BaseSingularTests): ...


class TestSingularTestsEphemeral(BaseSingularTestsEphemeral): ...


class TestEmpty(BaseEmpty): ...


class TestEphemeral(BaseEphemeral): ...


class TestGenericTests(BaseGenericTests): ...


class TestIncremental(BaseIncremental): ...


class TestIncrementalBadStrategy(BaseIncrementalBadStrategy): ...


class TestTableMaterialization(BaseTableMaterialization): ...


class TestValidateConnection(BaseValidateConnection): ...


class TestAdapterMethod(BaseAdapterMethod): ...


SEED = {"id": "BIGINT", "first_name": "STRING", "email": "STRING", "ip_address": "STRING", "updated_at": "TIMESTAMP(3)"}


def described(project: Any, name: str, kind: str) -> CatalogTable:
    columns = {each: ColumnMetadata(type=SEED[each], index=i + 1, name=each) for i, each in enumerate(SEED)}
    about = TableMetadata(type=kind, schema=project.test_schema, name=name, database=project.database)
    return CatalogTable(metadata=about, columns=columns, stats={})


class TestGetCatalogForSingleRelation(BaseGetCatalogForSingleRelation):
    @pytest.fixture(scope="class")
    def expected_catalog_my_seed(self, project: Any) -> CatalogTable:
        return described(project, "my_seed", "table")

    @pytest.fixture(scope="class")
    def expected_catalog_my_table_model(self, project: Any) -> CatalogTable:
        return described(project, "my_table_model", "table")

    @pytest.fixture(scope="class")
    def expected_catalog_my_view_model(self, project: Any) -> CatalogTable:
        return described(project, "my_view_model", "view")


WORDS = {
    "role": None,
    "id_type": "BIGINT",
    "text_type": "STRING",
    "time_type": "TIMESTAMP(3)",
    "view_type": "view",
    "table_type": "table",
    "model_stats": expected_catalog.no_stats(),
}


class TestDocsGenReferences(BaseDocsGenReferences):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> Any:
        return expected_catalog.expected_references_catalog(project, bigint_type="BIGINT", **WORDS)


class TestDocsGenerate(BaseDocsGenerate):
    @pytest.fixture(scope="class")
    def expected_catalog(self, project: Any) -> Any:
        return expected_catalog.base_expected_catalog(project, **WORDS)


class TestAliases(BaseAliases): ...


class TestAliasErrors(BaseAliasErrors): ...


class TestSameAliasDifferentSchemas(BaseSameAliasDifferentSchemas): ...


class TestDebug(BaseDebugPostgres):
    test_nopass = test_wronguser = None  # there is no password


class TestShowLimit(BaseShowLimit): ...


class TestShowDoesNotHandleDoubleLimit(BaseShowDoesNotHandleDoubleLimit):
    DATABASE_ERROR_MESSAGE = "found multiple 'LIMIT' clauses"


class TestEmptyFlag(BaseTestEmpty): ...


class TestChangeRelationType(BaseChangeRelationTypeValidator): ...


class TestDropSchemaNamed(BaseDropSchemaNamed): ...


class TestEmptySeed(BaseTestEmptySeed): ...


@pytest.mark.xfail(strict=True, reason="unit tests of dbt do not compile yet: their materialization is not ours")
class TestUnitTestCaseInsensitivity(BaseUnitTestCaseInsensivity): ...


@pytest.mark.xfail(strict=True, reason="unit tests of dbt do not compile yet: their materialization is not ours")
class TestUnitTestInvalidInput(BaseUnitTestInvalidInput): ...


class TestConcat(BaseConcat): ...


class TestCurrentTimestamp(BaseCurrentTimestampAware):
    @pytest.mark.xfail(strict=True, reason="values of TIMESTAMP_LTZ come without their zone")
    def test_current_timestamp_type(self, current_timestamp: object) -> None:
        super().test_current_timestamp_type(current_timestamp)


class TestExcept(BaseExcept): ...


class TestIntersect(BaseIntersect): ...


class TestLength(BaseLength): ...


class TestReplace(BaseReplace): ...
