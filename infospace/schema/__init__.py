"""JSON Schema: validate, explain, infer, combine."""
