"""What the models need to know of a machine, each with its unit, its bounds and who measures it directly.

A parameter is of one rank while all ranks of its node work: the papers have one process a node, so their nodes are
ranks here. A model says how seconds follow from parameters (models/base.py), and fit finds them (models/fit.py)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    name: str
    symbol: str  # in the papers
    unit: str  # "flop/s", "B/s", "1/s", "s", "B" or "1"
    meaning: str
    least: float  # below it a value is absurd
    most: float  # and above this
    component: str = ""  # the program that measures it directly; "" where none does

    @property
    def together(self) -> int:
        """How it grows with the ranks whose places one rank with threads takes: to the power of this. Rates and own
        caches add up, times of work shrink; what a message costs, or the node has once, stays."""
        if self.name in ("butterfly_time", "word_time"):
            return -1
        return 1 if self.unit in ("flop/s", "B/s", "1/s") or self.name == "private_cache_bytes" else 0


_ALL = (
    Parameter("flop_rate", "C_node", "flop/s", "scalar flops a second of local FFTs in cache", 1e5, 1e17),
    Parameter(
        "odd_flop_rate",
        "",
        "flop/s",
        "the same, of the factors of a length that are not 2",
        1e5,
        1e17,
    ),
    Parameter(
        "memory_constant",
        "A",
        "1",
        "words that a 1-D FFT of n points moves beyond the cache, over n max(log_Z n, 1)",
        0.5,
        100,
    ),
    Parameter("cache_bytes", "Z", "B", "cache that the ranks of a node share", 1024, 1e12),
    Parameter("private_cache_bytes", "", "B", "cache that a rank has for itself", 1024, 1e12),
    Parameter("core_bandwidth", "", "B/s", "of data that a rank's own cache holds", 1e5, 1e16),
    Parameter("cache_bandwidth", "", "B/s", "of data that the shared cache holds", 1e5, 1e16),
    Parameter("memory_bandwidth", "beta_mem", "B/s", "between memory and cache", 1e5, 1e16, "memory_bench"),
    Parameter(
        "link_bandwidth",
        "beta_link",
        "B/s",
        "of one direction, while the other is used too",
        1e3,
        1e15,
        "pairwise_bench",
    ),
    Parameter(
        "latency",
        "alpha",
        "s",
        "of a message, from the start of sending to the end of receiving",
        1e-9,
        1,
        "pairwise_bench",
    ),
    Parameter("overhead", "o", "s", "that a rank spends on a message, whatever its length", 1e-10, 1),
    Parameter("cycle_rate", "", "1/s", "cycles of the processor a second", 1e5, 1e12),
    Parameter("pcie_bandwidth", "beta_PCIe", "B/s", "between a host and its accelerator", 1e5, 1e15, "copy_bench"),
    Parameter("butterfly_time", "t_c", "s", "of one unit of computation: a point in one of log2 n steps", 1e-12, 1),
    Parameter("startup_time", "t_s", "s", "to start a message", 1e-9, 1, "pairwise_bench"),
    Parameter("word_time", "t_w", "s", "of a word of 16 bytes on a link", 1e-13, 1, "pairwise_bench"),
)

PARAMETERS: dict[str, Parameter] = {one.name: one for one in _ALL}

_COEFFICIENT = "coefficient of "


def coefficient(phase: str, growth: str) -> str:
    """The name of a parameter of the normal form: seconds of a phase for each unit of what it grows with."""
    return f"{_COEFFICIENT}{phase}: {growth}"


def parameter(name: str) -> Parameter:
    """Raises KeyError for a name that is neither in PARAMETERS nor a coefficient."""
    if name.startswith(_COEFFICIENT):
        return Parameter(name, "c", "s", f"seconds: {name}", 1e-30, 1e6)
    return PARAMETERS[name]
