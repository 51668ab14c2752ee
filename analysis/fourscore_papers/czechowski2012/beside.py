"""Which of its figures and equations other plots show."""

from __future__ import annotations

from fourscore_analysis.plots.base import Beside

BESIDE = Beside(
    {
        "breakdown": "As Fig. 2 of czechowski2012.",
        "fft-constant": "Eq. 2 is of czechowski2012, which found 6.3 with hardware counters: dotted.",
    }
)
