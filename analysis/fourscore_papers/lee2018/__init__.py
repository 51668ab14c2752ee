"""Lee: A node-based approach to Charm-FFT, 2018."""
