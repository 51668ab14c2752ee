import gc
import os
import sys

# Before numpy is loaded: its matrices here are small, and threads that wait for work take the cores of the processes
# that fits and figures are spread over.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Of the million small objects of an archive nearly all live to the end of a command: looking for others takes seconds.
gc.disable()

if __name__ == "__main__":
    from fourscore_analysis.cli import main

    sys.exit(main())
