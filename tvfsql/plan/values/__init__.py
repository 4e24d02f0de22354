"""What values are: their types, the expressions that compute them, and how durations and zones are written."""
