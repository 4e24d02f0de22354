"""Plain models and random inputs that the tests compare tvfsql with. Source: CONTRIBUTING.md."""
