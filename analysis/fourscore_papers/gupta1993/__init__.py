"""Gupta and Kumar: The scalability of FFT on parallel computers, 1993."""
