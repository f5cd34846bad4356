"""Rules of pods: defaults, admission, validation, what an update may change, binding and eviction."""
