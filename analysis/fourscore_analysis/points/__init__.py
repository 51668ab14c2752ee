"""Launches of one point together, and the numbers that are read off them."""
