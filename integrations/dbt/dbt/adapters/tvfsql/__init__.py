"""The adapter of dbt for tvfsql."""

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.tvfsql.connections import TvfsqlConnectionManager, TvfsqlCredentials
from dbt.adapters.tvfsql.impl import TvfsqlAdapter
from dbt.include import tvfsql

__all__ = ["Plugin", "TvfsqlAdapter", "TvfsqlConnectionManager", "TvfsqlCredentials"]

Plugin = AdapterPlugin(adapter=TvfsqlAdapter, credentials=TvfsqlCredentials, include_path=tvfsql.PACKAGE_PATH)
