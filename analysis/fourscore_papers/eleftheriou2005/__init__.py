"""Eleftheriou and others: 3D FFTs on the Blue Gene/L supercomputer, 2005."""
