"""Tests of users' scripts with simulated time: YAML files that `tvfsql test` and pytest run."""
