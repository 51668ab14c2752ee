"""One package a paper; fourscore_analysis/records/papers.py says what it may hold."""
