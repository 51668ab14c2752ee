"""Czechowski and others: On the communication complexity of 3D FFTs, 2012."""
