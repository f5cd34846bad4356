"""The in-memory API over HTTP: what kubectl, the official client and berth itself speak to in demos and tests."""
