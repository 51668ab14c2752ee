"""mpi4py-fft's slabs and pencils as a plugin of fourscore. build.py puts this into a shared library."""

import mpi4py

mpi4py.rc.initialize = mpi4py.rc.finalize = False  # fft_bench does both
import numpy  # noqa: E402
from fourscore_plugin import ffi, lib  # noqa: E402
from mpi4py import MPI  # noqa: E402
from mpi4py_fft import PFFT, __version__  # noqa: E402

NAMES = ("mpi4py-fft-slab", "mpi4py-fft-pencil")
EFFORTS = {lib.FOURSCORE_ESTIMATE: "FFTW_ESTIMATE", lib.FOURSCORE_MEASURE: "FFTW_MEASURE", lib.FOURSCORE_PATIENT: "FFTW_PATIENT"}
plans = {}
error = ffi.new("char[]", 500)


def function(define):
    """A function of fourscore.h: what it raises is what fourscore_last_error() says."""

    def guarded(*arguments):
        try:
            define(*arguments)
            return 0
        except Exception as problem:  # noqa: BLE001
            text = f"{type(problem).__name__}: {problem}".encode()[:499]
            ffi.buffer(error)[: len(text) + 1] = text + b"\0"
            return 1

    return ffi.def_extern(name=define.__name__)(guarded)


@ffi.def_extern()
def fourscore_plugin_version():
    return lib.FOURSCORE_PLUGIN_VERSION


@ffi.def_extern()
def fourscore_last_error():
    return error


@function
def fourscore_describe(index, transform):
    transform.name = NAMES[index].encode()
    transform.summary = b"mpi4py-fft: MPI_Alltoallw between subarrays, FFTW for the local transforms"
    transform.citation = b"https://doi.org/10.1016/j.jpdc.2019.02.006"
    transform.version = __version__.encode()
    transform.kinds = lib.FOURSCORE_C2C | lib.FOURSCORE_R2C
    transform.precisions = lib.FOURSCORE_DOUBLE | lib.FOURSCORE_SINGLE


@function
def fourscore_supports(index, problem, ranks):
    axes = problem.axes
    if problem.in_place or problem.layout != lib.FOURSCORE_TRANSPOSED:
        raise ValueError("mpi4py-fft works out of place and leaves its output transposed")
    if axes < index + 2:
        raise ValueError(f"{NAMES[index]} takes {index + 2} axes or more")
    if min(problem.shape[0:axes]) // 2 < ranks:
        raise ValueError(f"{ranks} ranks; here each has two planes at least of each axis")


@function
def fourscore_create(index, problem, comm, plan):
    real = problem.kind == lib.FOURSCORE_R2C
    single = problem.precision == lib.FOURSCORE_SINGLE
    dtype = numpy.dtype(("f" if real else "F") if single else ("d" if real else "D"))
    transform = PFFT(MPI.Comm.f2py(comm), list(problem.shape[0 : problem.axes]), dtype=dtype, slab=index == 0, planner_effort=EFFORTS[problem.effort], threads=problem.threads)
    plan[0] = ffi.cast("void *", len(plans) + 1)
    plans[len(plans) + 1] = (transform, transform.forward if problem.direction == lib.FOURSCORE_FORWARD else transform.backward)


def of(plan):
    return plans[int(ffi.cast("intptr_t", plan))]


@function
def fourscore_boxes(plan, before, after):
    transform, run = of(plan)
    forward = run is transform.forward
    for box, spectral in ((before, not forward), (after, forward)):
        slices = transform.local_slice(spectral)
        box.low = [part.start for part in slices] + [0] * (3 - len(slices))
        box.high = [part.stop for part in slices] + [1] * (3 - len(slices))
        box.order = [0, 1, 2]


@function
def fourscore_buffers(plan, buffers):
    run = of(plan)[1]
    for side, array in (("before", run.input_array), ("after", run.output_array)):
        setattr(buffers, side, ffi.cast("void *", array.ctypes.data))
        setattr(buffers, f"{side}_bytes", array.nbytes)


@function
def fourscore_execute(plan, before, after):
    of(plan)[1](normalize=False)


@function
def fourscore_destroy(plan):
    transform, _ = plans.pop(int(ffi.cast("intptr_t", plan)))
    transform.destroy()


@function
def fourscore_set_phases(plan, phases):
    """The library does not tell its phases."""


@function
def fourscore_cost(index, problem, ranks, cost):
    shape = [problem.shape[axis] for axis in range(problem.axes)]
    elements = float(numpy.prod(shape))
    cost.flops = (2.5 if problem.kind == lib.FOURSCORE_R2C else 5) * elements * numpy.log2(elements)
