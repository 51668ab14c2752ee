"""One module a plot of a report."""
