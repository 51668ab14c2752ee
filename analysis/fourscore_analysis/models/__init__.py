"""Models fitted to points: messages, the constant of Eq. 2, the roofline."""
