from fourscore_command import fourscore, measured  # noqa: F401
