"""Haynes and Côté: Parallel fast Fourier transforms for electronic structure calculations, 2000."""
