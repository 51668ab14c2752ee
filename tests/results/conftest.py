from fourscore_command import first_measured, fourscore, measured  # noqa: F401
