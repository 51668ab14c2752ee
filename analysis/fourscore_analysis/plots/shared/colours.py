"""How a name looks: one colour and marker for it in every figure of every report."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from fourscore_analysis.points.points import REFERENCE
from fourscore_analysis.records.cells import Method

# Okabe and Ito, Color Universal Design, 2008: told apart with every common colour blindness.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT_GREY, INK, SOFT = "#999999", "#DDDDDD", "#222222", "#555555"

PHASE_COLOURS = {
    "fft": BLUE,
    "twiddle": PURPLE,
    "combine": YELLOW,
    "pack": SKY,
    "exchange": VERMILLION,
    "unpack": GREEN,
    "h2d": ORANGE,
    "d2h": "#661100",  # BROWN, below
    "product": "#44AA99",  # TEAL, below
    "work": "#999933",  # OLIVE, below
    "other": GREY,
}
LAUNCH_COLOURS = (BLUE, SKY, GREEN, PURPLE, ORANGE, GREY)

# Beyond those: of Tol, Colour Schemes, SRON 2021, "muted", the ones far from the above.
INDIGO, WINE, OLIVE, BROWN, TEAL = "#332288", "#882255", "#999933", "#661100", "#44AA99"
SERIES_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, INDIGO, WINE, OLIVE, BROWN, TEAL, GREY)

# A name that is in none of these tables gets its look from a hash of it, so that it too stays the same.
VARIANT_COLOURS = {
    REFERENCE: BLACK,
    "serial": GREY,
    "slab": BLUE,
    "pencil": VERMILLION,
    "pencil-overlap": WINE,
    "volumetric": GREEN,
    "danielson-lanczos": PURPLE,
    "overdecomposed": ORANGE,
    "node": SKY,
    "transpose": INDIGO,
    "binary-exchange": OLIVE,
    "rods": TEAL,
    "pencil-gpu": BROWN,
    "heffte": TEAL,
    "heffte-cufft": INDIGO,
    "2decomp": BROWN,
    "accfft": YELLOW,
    "cudecomp": PURPLE,
    "cufftmp": GREEN,
    "dtfft": WINE,
    "dtfft-cufft": VERMILLION,
    "mkl-cdft": OLIVE,
    "p3dfft": PURPLE,
}
LOOKS = {  # colour and marker of exchanges, of MPI's own calls, of kernels
    "none": (GREY, "o"),
    "active": (YELLOW, "H"),
    "alltoallv": (BLUE, "o"),
    "alltoallw": (VERMILLION, "s"),
    "bruck": (GREEN, "^"),
    "hierarchical": (PURPLE, "h"),
    "ialltoallv": (ORANGE, "v"),
    "ialltoallv-pipelined": (BROWN, "<"),
    "p2p": (OLIVE, "P"),
    "p2p-pipelined": (WINE, "X"),
    "pairwise": (TEAL, ">"),
    "rma": (INDIGO, "*"),
    "shared": (SKY, "D"),
    "mpi-alltoall": (GREY, "p"),
    "mpi-alltoallv": (BLACK, "H"),
    "mpi-ialltoall": (YELLOW, "d"),
    "copy": (BLACK, "o"),
    "streaming-copy": (GREY, "s"),
    "naive": (VERMILLION, "^"),
    "blocked": (BLUE, "s"),
    "simd": (GREEN, "D"),
    "simd-streaming": (ORANGE, "v"),
    "fftw": (PURPLE, "P"),
    "contiguous": (BLUE, "o"),
    "middle": (VERMILLION, "s"),
    "slowest": (GREEN, "^"),
    "pageable": (BLUE, "o"),
    "pinned": (VERMILLION, "s"),
    "managed": (GREEN, "^"),
}
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_LINES = ("-", "--", "-.", ":")


def phase_colour(phase: str) -> str:
    return PHASE_COLOURS.get(phase, PHASE_COLOURS["other"])


@dataclass(frozen=True)
class LineStyle:
    colour: str
    marker: str
    line: str


def _hashed(name: str, salt: str) -> int:
    """The same in every process and on every machine, as Python's own hash is not."""
    return zlib.crc32(f"{salt}:{name}".encode("utf-8", "surrogatepass"))


def colour_of(name: str) -> str:
    """The colour of a variant, an exchange or a kernel."""
    if name in LOOKS:
        return LOOKS[name][0]
    return VARIANT_COLOURS.get(name) or SERIES_COLOURS[_hashed(name, "colour") % len(SERIES_COLOURS)]


def marker_of(name: str) -> str:
    return LOOKS[name][1] if name in LOOKS else _MARKERS[_hashed(name, "marker") % len(_MARKERS)]


def method_style(method: Method) -> LineStyle:
    """Colour by variant (the reference is black), marker by exchange, line by its own parameters where it has any: and
    the marker too where it takes no exchange, for plots of markers alone."""
    words = (method.parameters, method.placement, method.field_order, method.active_ranks)
    told = ", ".join(part for part in words if part)
    line = _LINES[_hashed(told, "line") % len(_LINES)] if told else "-"
    exchange = method.exchange or "none"
    return LineStyle(colour_of(method.variant), marker_of(told if told and exchange == "none" else exchange), line)


def curve_style(label: str) -> LineStyle:
    """A component's colour and marker are those of the first word that has them; the others choose line and marker."""
    words = label.split(" ")
    known = next((word for word in words if word in LOOKS or word in VARIANT_COLOURS), label)
    rest = " ".join(word for word in words if word != known)
    if known == label or not rest:
        return LineStyle(colour_of(known), marker_of(known), "-")
    return LineStyle(colour_of(known), marker_of(rest), _LINES[_hashed(rest, "line") % len(_LINES)])
