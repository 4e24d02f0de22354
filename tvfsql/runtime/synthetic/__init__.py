"""Generated tables: the data sources `nexmark`, `datagen` and `faker`."""
