"""Objects as table rows, as `kubectl get` shows them (pkg/printers/internalversion)."""
