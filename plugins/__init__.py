"""The built-in plugins, one file each; `plugins.registry` lists them."""
