"""Tables, views and connectors."""

from tvfsql.catalog.catalog import Catalog
from tvfsql.catalog.table import Table, TableColumn, View, Watermark

__all__ = ["Catalog", "Table", "TableColumn", "View", "Watermark"]
