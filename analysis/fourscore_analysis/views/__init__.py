"""One campaign, and all of a report, as tables and plots see them."""
