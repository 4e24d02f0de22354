"""Tables, views and connectors."""

from tvfsql.catalog.catalog import Catalog, Table, TableColumn, View, Watermark

__all__ = ["Catalog", "Table", "TableColumn", "View", "Watermark"]
