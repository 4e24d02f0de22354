"""Messages of Kafka that functions in Python read: their rows, and those that cannot be read."""
