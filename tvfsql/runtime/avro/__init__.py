"""Messages in Avro whose schemas are in a schema registry."""
