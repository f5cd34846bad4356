"""berth: a standalone secondary scheduler for Kubernetes. Start reading at `scheduler.framework` or `scheduler.cycle`."""
