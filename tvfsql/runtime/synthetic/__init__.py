"""Tables whose rows are made: the data sources `nexmark` and `datagen`."""
