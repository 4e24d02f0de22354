"""`make bench`: tvfsql beside Spark, Flink and itself, measured in one run."""
