"""Nexmark: the queries of the field's benchmark of streams, over the same files for every engine."""
