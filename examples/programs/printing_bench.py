"""numpy's FFT, timed by itself: prints a line for each repetition, which is all that `fourscore run` needs of it.

program = ["python3", "printing_bench.py", "{shape}", "{repetitions}"] in a suite's [[sweep]].
"""

import sys
import time

import numpy

shape, repetitions = [int(extent) for extent in sys.argv[1].split("x")], int(sys.argv[2])
data = numpy.random.default_rng(1).random(shape) + 0j
for number in range(-1, repetitions):
    begin = time.perf_counter()
    result = numpy.fft.fftn(data)
    seconds = time.perf_counter() - begin
    print("sample_s" if number >= 0 else "warmup_s", seconds)
print("checksum", f"{abs(result[-1, -1, -1]):.6g}")
