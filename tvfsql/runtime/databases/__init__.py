"""Rows in databases that are not Spark's. What only files, topics or Spark's catalogs need is elsewhere."""
