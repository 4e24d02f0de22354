"""tvfsql: Flink's window SQL on Spark."""
