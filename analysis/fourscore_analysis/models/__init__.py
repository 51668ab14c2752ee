"""Models of time and traffic, and how they are fitted to what was measured."""
