"""An in-memory Kubernetes API for tests and demos: raw JSON objects, told time, seeded identifiers."""
