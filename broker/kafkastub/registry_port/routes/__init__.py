"""The handlers of the registry's port: each module has a table of methods, paths and what answers there."""
