"""The page: puts tables and plots together, and writes the files."""
