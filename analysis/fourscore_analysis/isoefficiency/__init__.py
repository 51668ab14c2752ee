"""Efficiency and isoefficiency in reports: each module here belongs to the folder of its name."""
