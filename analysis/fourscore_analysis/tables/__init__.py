"""Rows of tables and sentences, as text."""
