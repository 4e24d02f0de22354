"""Physical plans of streams."""
