"""The style of every figure: fonts, ticks, grid."""

from __future__ import annotations

import matplotlib as mpl

from fourscore_analysis.plots.shared.colours import GREY, INK

RC = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.labelpad": 2,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.major.size": 2.5,
    "ytick.major.size": 0,
    "xtick.major.pad": 2,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "legend.columnspacing": 1.1,
    "legend.handletextpad": 0.4,
    "lines.linewidth": 1.2,
    "svg.hashsalt": "fourscore",
    "svg.fonttype": "path",
    "pdf.fonttype": 3,
    "path.simplify": True,
}


def apply() -> None:
    """Sets the style for this process."""
    mpl.rcParams.update(RC)
