"""What several plots share: looks, axes, curves. No plot imports another."""
