"""The equations of gupta1993: work, overhead, efficiency and isoefficiency of the parallel 1-D FFT.

n points on p processors. t_c is the time of one unit of computation (line 8 of Figure 1), t_s of the start of a
message, t_h of a hop, t_w of a word, t_f (the paper's t'_c) of one twiddle factor. All times are in one unit, here
seconds; work and overhead are sums over all processors, in the same unit. Logarithms are to base 2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

LARGEST_LOG2_POINTS = 1e6  # beyond this no size is sought: no machine holds 2^1e6 points


@dataclass(frozen=True)
class Machine:
    """Seconds. The paper's measurements give t_c and t_w; it leaves t_h out."""

    t_c_s: float
    t_w_s: float
    t_s_s: float = 0.0
    t_h_s: float = 0.0


# ---- section 2: what efficiency and isoefficiency are


def work(machine: Machine, points: float) -> float:
    """W = t_c n log n (section 4)."""
    return machine.t_c_s * points * math.log2(points)


def efficiency(overhead_s: float, work_s: float) -> float:
    """Eq. 1: E = 1 / (1 + T_o / W)."""
    return 1 / (1 + overhead_s / work_s)


def speedup(processors: float, efficiency: float) -> float:
    """S = p E. (The text before Eq. 1 prints S = W / T_o; Eq. 1 itself has W / T_p.)"""
    return processors * efficiency


def overhead(processors: float, parallel_s: float, serial_s: float) -> float:
    """T_o = p T_p - W (section 2), of measured times."""
    return processors * parallel_s - serial_s


def k_of(efficiency: float) -> float:
    """The K of Eq. 2: E / (1 - E), so that W = K T_o keeps the efficiency."""
    return efficiency / (1 - efficiency)


# ---- sections 3 and 4: binary exchange


def hops_overhead(machine: Machine, points: float, distances: list[float]) -> float:
    """Eq. 3 with p = 2^d: p sum over the d iterations of t_s + t_w n/p z_l, where z_l are `distances` in hops."""
    processors = 2 ** len(distances)
    return processors * sum(machine.t_s_s + machine.t_w_s * points / processors * hops for hops in distances)


def hypercube_overhead(machine: Machine, points: float, processors: float) -> float:
    """Eq. 4: t_s p log p + t_w n log p. Cut-through routing changes nothing: all partners are neighbours."""
    return (machine.t_s_s * processors + machine.t_w_s * points) * math.log2(processors)


def mesh_overhead(machine: Machine, points: float, processors: float) -> float:
    """Eq. 8: t_s p log p + 2 t_w n sqrt(p), which is mesh_overhead_exactly() for large p."""
    return machine.t_s_s * processors * math.log2(processors) + 2 * machine.t_w_s * points * math.sqrt(processors)


def mesh_overhead_exactly(machine: Machine, points: float, processors: float) -> float:
    """The line above Eq. 8: 2 p (t_s log sqrt(p) + t_w n/p (sqrt(p) - 1))."""
    start_s = machine.t_s_s * math.log2(processors) / 2
    return 2 * (processors * start_s + machine.t_w_s * points * (math.sqrt(processors) - 1))


def ordered_overhead(machine: Machine, points: float, processors: float) -> float:
    """Appendix C on a hypercube: at most 2 d + 1 steps in place of d."""
    return (machine.t_s_s * processors + machine.t_w_s * points) * ordered_steps(processors)


def ordered_steps(processors: float) -> float:
    """Appendix C: communication steps of an ordered transform at most, 2 log p + 1; none on one processor."""
    return 2 * math.log2(processors) + 1 if processors > 1 else 0.0


def start_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Eqs. 6, 9 and 14: W = K t_s p log p, where start-up time alone counts."""
    return k_of(efficiency) * machine.t_s_s * processors * math.log2(processors)


def hypercube_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Eqs. 7 and 16: W = K t_w p^(K t_w / t_c) log p, where the words alone count."""
    power = slope(machine.t_w_s / machine.t_c_s, efficiency)
    return k_of(efficiency) * machine.t_w_s * processors**power * math.log2(processors)


def mesh_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Eq. 10: W = 2 K t_w sqrt(p) 2^(2 K (t_w / t_c) sqrt(p)), where the words alone count."""
    k, root = k_of(efficiency), math.sqrt(processors)
    return 2 * k * machine.t_w_s * root * 2 ** (2 * k * machine.t_w_s / machine.t_c_s * root)


def slope(word_over_unit: float, efficiency: float) -> float:
    """Table 1: log n over log p that keeps the efficiency, K t_w / t_c, from n = p^(K t_w / t_c) above Eq. 7."""
    return k_of(efficiency) * word_over_unit


def threshold(word_over_unit: float) -> float:
    """Section 4.1.1: the efficiency t_c / (t_c + t_w) at which K t_w / t_c = 1. Below it n need not grow faster
    than p."""
    return 1 / (1 + word_over_unit)


# ---- section 5: the transpose method


def transpose_overhead(machine: Machine, points: float, processors: float) -> float:
    """Eq. 11, hypercube with cut-through routing: t_w n + t_s p^2; nothing moves on one processor."""
    return machine.t_w_s * points + machine.t_s_s * processors**2 if processors > 1 else 0.0


def transpose_overhead_store_and_forward(machine: Machine, points: float, processors: float) -> float:
    """Section 5, without cut-through routing: t_w n/p log p + t_s p on each processor."""
    if processors <= 1:
        return 0.0
    return machine.t_w_s * points * math.log2(processors) + machine.t_s_s * processors**2


def transpose_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Eq. 12: W = K t_s p^2, of the communication."""
    return k_of(efficiency) * machine.t_s_s * processors**2


def transpose_concurrency(machine: Machine, processors: float, dimensions: int = 2) -> float:
    """Section 5: W at the least n that gives every processor something to do, p = n^((m - 1) / m)."""
    return work(machine, processors ** (dimensions / (dimensions - 1)))


def m_dimensional_overhead(machine: Machine, points: float, processors: float, dimensions: int) -> float:
    """Sections 3.2 and 5.1: an m-dimensional array on an (m - 1)-dimensional array of processors, q = p^(1 / (m - 1))
    along each of its dimensions. m - 1 transpositions, in each of which a processor sends q - 1 messages and the time
    of all its n/p words passes: (m - 1) (t_w n + t_s p (q - 1)). With m = log p + 1 it is Eq. 4, and with m = 2 Eq. 11,
    which counts q messages."""
    if processors <= 1:
        return 0.0
    along = processors ** (1 / (dimensions - 1))
    return (dimensions - 1) * (machine.t_w_s * points + machine.t_s_s * processors * (along - 1))


def most_processors(points: float, dimensions: int) -> float:
    """Section 5.1: n^((m - 1) / m) of an m-dimensional transpose method."""
    return points ** ((dimensions - 1) / dimensions)


# ---- sections 6 and 7: faster serial algorithms, cost of networks


def throughput_gain(saved: float, efficiency: float) -> float:
    """Section 6: 1 / (1 - r E) - 1, where a faster algorithm saves the share r of the serial work."""
    return 1 / (1 - saved * efficiency) - 1


def mesh_channel_width(processors: float, dimensions: int = 2) -> float:
    """Section 7: w = 2 sqrt(p) / log p, so that a mesh keeps up with a hypercube of equal channels. A mesh of m
    dimensions by the same analysis, as section 10 says of 3: w = m p^(1/m) / log p."""
    return dimensions * processors ** (1 / dimensions) / math.log2(processors)


def hypercube_links_cost(processors: float) -> float:
    """Section 7: p log p."""
    return processors * math.log2(processors)


def mesh_links_cost(processors: float, width: float | None = None, dimensions: int = 2) -> float:
    """Section 7: 4 w p, of a mesh as fast as a hypercube 8 p sqrt(p) / log p. As there, a processor counts the channels
    of all its 2 m sides."""
    width = mesh_channel_width(processors, dimensions) if width is None else width
    return 2 * dimensions * width * processors


def hypercube_bisection_cost(processors: float) -> float:
    """Section 7: p / 2."""
    return processors / 2


def mesh_bisection_cost(processors: float, width: float | None = None, dimensions: int = 2) -> float:
    """Section 7: sqrt(p) channels of width w, of a mesh as fast as a hypercube 2 p / log p."""
    width = mesh_channel_width(processors, dimensions) if width is None else width
    return processors ** (1 - 1 / dimensions) * width


def widened_mesh_overhead(machine: Machine, points: float, processors: float, power: float) -> float:
    """Eq. 8 where the channels' bandwidth grows as p^x (section 7): t_w / p^x in the place of t_w."""
    wide = replace(machine, t_w_s=machine.t_w_s / processors**power)
    return mesh_overhead(wide, points, processors)


def widened_mesh_isoefficiency(machine: Machine, efficiency: float, processors: float, power: float) -> float:
    """Section 7, of communication: p^(.5 - x) 2^(2 K (t_w / t_c) p^(.5 - x)), with Eq. 10's factor 2 K t_w."""
    k, root = k_of(efficiency), processors ** (0.5 - power)
    return 2 * k * machine.t_w_s * root * 2 ** (2 * k * machine.t_w_s / machine.t_c_s * root)


def widened_mesh_concurrency(machine: Machine, processors: float, power: float) -> float:
    """Section 7: p^(1 + x) log p. Channels p^x wide are full only where a processor has as many elements."""
    return work(machine, processors ** (1 + power))


# ---- section 10: meshes of more dimensions


def grid_overhead(machine: Machine, points: float, processors: float, dimensions: int) -> float:
    """Section 10 leaves a mesh of 3 dimensions to the reader, by an analysis as in section 4.2: distances double along
    each dimension, t_s p log p + m t_w n p^(1/m). In two dimensions it is Eq. 8."""
    words = dimensions * machine.t_w_s * points * processors ** (1 / dimensions)
    return machine.t_s_s * processors * math.log2(processors) + words


def grid_isoefficiency(machine: Machine, efficiency: float, processors: float, dimensions: int) -> float:
    """For its words alone: W = m K t_w p^(1/m) 2^(m K (t_w / t_c) p^(1/m)), exponential. In two dimensions Eq. 10."""
    along = dimensions * k_of(efficiency) * processors ** (1 / dimensions)
    return along * machine.t_w_s * 2 ** (along * machine.t_w_s / machine.t_c_s)


# ---- appendix A: twiddle factors


def exponent(points: int, iteration: int, index: int) -> int:
    """The exponent of omega in line 8 of Figure 1, for output `index` of iteration l from 0: the l + 1 most significant
    bits of the index in reverse order, padded with zeros on the right (Table 3; section 3)."""
    bits = points.bit_length() - 1
    leading = f"{index:0{bits}b}"[: iteration + 1]
    return int(leading[::-1].ljust(bits, "0"), 2)


def new_twiddle_factors(points: int, processors: int) -> list[int]:
    """By iteration, of the processor that uses most: powers of omega that it has not used before (Table 4). Processors
    own n/p consecutive indices."""
    share = points // processors
    busiest: list[int] = []
    for processor in range(processors):
        known: set[int] = set()
        counts = []
        for iteration in range(points.bit_length() - 1):
            own = {exponent(points, iteration, processor * share + i) for i in range(share)} - known
            counts.append(len(own))
            known |= own
        busiest = max(busiest, counts, key=sum)
    return busiest


def twiddle_factors(points: int, processors: int) -> int:
    """h(n, p) by the recurrence of appendix A: the most new powers of omega on one processor. Powers of two, p <= n."""
    if processors == 1:
        return points
    if processors == points:
        return int(math.log2(processors))
    return twiddle_factors(points, 2 * processors) + points // processors - 1


def twiddle_factors_solved(points: float, processors: float) -> float:
    """Its solution for p > 1: 2 (n/p - 1) + log p."""
    return 2 * (points / processors - 1) + math.log2(processors)


def twiddle_overhead(factor_s: float, points: float, processors: float) -> float:
    """t'_c (n + p log p). Exactly it is less by t'_c 2 p: p h(n, p) - n = n - 2 p + p log p."""
    return factor_s * (points + processors * math.log2(processors))


def twiddle_isoefficiency(factor_s: float, efficiency: float, processors: float) -> float:
    """Eq. 13: W = K t'_c p log p."""
    return k_of(efficiency) * factor_s * processors * math.log2(processors)


# ---- appendix B: other measures, of speedups and of the model without t_s


def serial_fraction(speedup: float, processors: float) -> float:
    """Karp and Flatt: (1/S - 1/p) / (1 - 1/p). Negative where the speedup is more than p."""
    return (1 / speedup - 1 / processors) / (1 - 1 / processors)


def overhead_function(processors: float, parallel_s: float, serial_s: float) -> float:
    """Zorbas: T_p / (C (W_s + W_p / p)) = p T_p / T_1, where all the work can be done in parallel: 1 / E."""
    return processors * parallel_s / serial_s


def hypercube_serial_fraction(word_over_unit: float, points: float, processors: float) -> float:
    """t_w log p / (t_c p log n): Karp and Flatt's with p in the place of p - 1."""
    return word_over_unit * math.log2(processors) / (processors * math.log2(points))


def mesh_serial_fraction(word_over_unit: float, points: float, processors: float) -> float:
    """t_w / (t_c sqrt(p) log n), as printed. Eq. 8 gives twice as much."""
    return word_over_unit / (math.sqrt(processors) * math.log2(points))


def hypercube_overhead_function(word_over_unit: float, points: float, processors: float) -> float:
    """1 + t_w log p / (t_c log n)."""
    return 1 + word_over_unit * math.log2(processors) / math.log2(points)


def mesh_overhead_function(word_over_unit: float, points: float, processors: float) -> float:
    """1 + t_w sqrt(p) / (t_c log n), as printed. Eq. 8 gives twice as much beyond 1."""
    return 1 + word_over_unit * math.sqrt(processors) / math.log2(points)


def hypercube_scaled_speedup(word_over_unit: float, processors: float) -> float:
    """t_c p / (t_c + t_w): W grows as p, so that log n is log p but for double logarithms."""
    return processors / (1 + word_over_unit)


def mesh_scaled_speedup(word_over_unit: float, processors: float) -> float:
    """From Eq. 8: t_c p / (t_c + 2 t_w sqrt(p) / log p). The paper prints that of the hypercube here too, and says that
    the mesh's is much worse."""
    return processors / (1 + 2 * word_over_unit * math.sqrt(processors) / math.log2(processors))


def hypercube_scalability(word_over_unit: float) -> float:
    """Nussbaum and Agarwal: speedup on n processors over that of a PRAM, t_c / (t_c + t_w)."""
    return 1 / (1 + word_over_unit)


def mesh_scalability(word_over_unit: float, points: float) -> float:
    """From Eq. 8 with p = n: t_c / (t_c + 2 t_w sqrt(n) / log n). The paper prints that of the hypercube."""
    return 1 / (1 + 2 * word_over_unit * math.sqrt(points) / math.log2(points))


# ---- appendix C: two dimensions; appendix D: cut-through routing on a mesh; appendix E: overlap


def two_dimensional_overhead(machine: Machine, points: float, processors: float) -> float:
    """Appendix C: sqrt(n) x sqrt(n) points on sqrt(p) x sqrt(p) processors of a hypercube, two phases of Eq. 4 along
    sqrt(p) of them: the same as in one dimension."""
    return 2 * (machine.t_s_s * processors + machine.t_w_s * points) * math.log2(math.sqrt(processors))


def cut_through_mesh_overhead(machine: Machine, points: float, processors: float, contention: bool = True) -> float:
    """Appendix D: 2 p (t_s log sqrt(p) + t_h sqrt(p) + t_w n/p sqrt(p)); without contention for channels the last root
    is its logarithm."""
    root = math.sqrt(processors)
    words = points / processors * (root if contention else math.log2(root))
    return 2 * processors * (machine.t_s_s * math.log2(root) + machine.t_h_s * root + machine.t_w_s * words)


def hop_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Eq. 15, and appendix E on a mesh with t_w <= t_c: W = 2 K t_h p^1.5."""
    return 2 * k_of(efficiency) * machine.t_h_s * processors**1.5


def overlapped_word(machine: Machine) -> float:
    """Appendix E, t_s = 0: what a word costs while an element is computed, t_w - t_c or nothing."""
    return max(0.0, machine.t_w_s - machine.t_c_s)


def overlapped_overhead(machine: Machine, points: float, processors: float) -> float:
    """Appendix E on a hypercube: log p steps of (t_w - t_c) n/p + t_h on each processor, t_s = 0."""
    return (overlapped_word(machine) * points + machine.t_h_s * processors) * math.log2(processors)


def overlapped_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Appendix E on a hypercube: K (t_w - t_c) p^(K (t_w - t_c) / t_c) log p, and K t_h p log p where t_w <= t_c."""
    if machine.t_w_s <= machine.t_c_s:
        return k_of(efficiency) * machine.t_h_s * processors * math.log2(processors)
    return hypercube_isoefficiency(replace(machine, t_w_s=overlapped_word(machine)), efficiency, processors)


def overlapped_mesh_isoefficiency(machine: Machine, efficiency: float, processors: float) -> float:
    """Appendix E on a mesh: 2 K (t_w - t_c) sqrt(p) 2^(2 K (t_w - t_c) / t_c sqrt(p)), and Eq. 15 where t_w <= t_c. In
    print the exponent lacks "/ t_c": it has one in Eq. 10, and without it a unit."""
    if machine.t_w_s <= machine.t_c_s:
        return hop_isoefficiency(machine, efficiency, processors)
    return mesh_isoefficiency(replace(machine, t_w_s=overlapped_word(machine)), efficiency, processors)


# ---- Eq. 5 solved


def log2_points_for(
    overhead: Callable[[Machine, float, float], float], machine: Machine, efficiency: float, processors: float
) -> float:
    """log n of the least n, from 2 points on, with W >= K T_o: Eq. 5 for any of the overheads above, all of which are
    a n + b. By bisection; infinity beyond 2^LARGEST_LOG2_POINTS."""
    words = overhead(Machine(machine.t_c_s, machine.t_w_s), 1.0, processors)
    rest = overhead(Machine(machine.t_c_s, 0.0, machine.t_s_s, machine.t_h_s), 1.0, processors)

    def too_few(log2_points: float) -> bool:
        an_element = words + rest / 2.0 ** min(log2_points, 1000.0)
        return machine.t_c_s * log2_points < k_of(efficiency) * an_element

    low, high = 1.0, LARGEST_LOG2_POINTS
    if not too_few(low):
        return low
    if too_few(high):
        return math.inf
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if too_few(middle) else (low, middle)
    return high
