"""Which of its figures other plots show."""

from __future__ import annotations

from fourscore_analysis.plots.base import Beside

BESIDE = Beside(
    {
        "isoefficiency": "Right, as Fig. 3 of gupta1993. Dotted, for 1-D transforms: its T_o with t_c, t_s and t_w "
        "fitted to these points.",
    }
)
