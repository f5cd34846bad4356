"""berth, as users run it, on a real API server."""
