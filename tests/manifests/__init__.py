"""What is shipped in manifests/, held against a real API server."""
