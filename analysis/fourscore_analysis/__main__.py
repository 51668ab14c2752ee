import gc
import os
import sys
import warnings

# Before numpy is loaded: its matrices here are small, and threads that wait for work take the cores of the processes
# that fits and figures are spread over.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Of the million small objects of an archive nearly all live to the end of a command: looking for others takes seconds.
gc.disable()

# Figures are written, never shown: what a shell chose for its own plots, or has misspelt, is no matter of ours.
os.environ["MPLBACKEND"] = "agg"

# For those who write this package, not for its users; -W shows them.
if not sys.warnoptions:
    warnings.simplefilter("ignore")

if __name__ == "__main__":
    from fourscore_analysis.cli import main

    sys.exit(main())
