"""The equations that the papers number, one module a paper: functions of numbers alone, with units in their names."""
