"""Tests. CONTRIBUTING.md says what lies where."""
