"""berth: a standalone secondary scheduler for Kubernetes. Start reading at `framework` or `cycle`."""
