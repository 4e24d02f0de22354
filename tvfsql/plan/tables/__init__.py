"""Names and options of tables and of their columns."""
