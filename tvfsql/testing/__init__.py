"""Tests of a user's scripts with made time: files of YAML, run by `tvfsql test` and by pytest."""
