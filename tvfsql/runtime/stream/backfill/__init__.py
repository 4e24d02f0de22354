"""The history of a table, which a stream reads in batch before it starts. Importing this loads neither Spark nor
numpy."""
