from hypothesis import settings

pytest_plugins = ["tests.controlplane.fixtures"]

# The same examples in every run, so that a failure belongs to the change that shows it; `make fuzz` looks for new ones.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("fuzz", deadline=None, print_blob=True)
settings.load_profile("fixed")
