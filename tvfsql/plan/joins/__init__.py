"""Joins that are planned here, and their conditions."""
