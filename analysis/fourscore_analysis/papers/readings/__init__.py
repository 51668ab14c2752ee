"""Readings of a paper's equations that were tried to find its printed numbers, one module a paper that needed it."""
