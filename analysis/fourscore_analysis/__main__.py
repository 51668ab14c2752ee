import os
import sys

# Before numpy is loaded: its matrices here are small, and threads that wait for work take the cores of the processes
# that fits and figures are spread over.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from fourscore_analysis.cli import main

if __name__ == "__main__":  # `fourscore report` imports this module first, to see whether it can be loaded
    sys.exit(main())
