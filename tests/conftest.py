pytest_plugins = ["tests.controlplane.fixtures"]
