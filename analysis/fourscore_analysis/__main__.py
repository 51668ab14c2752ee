import gc
import os
import sys
import traceback
import warnings

# Before numpy is loaded: its matrices here are small, and threads that wait for work take the cores of the processes
# that fits and figures are spread over.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Nearly all of an archive's million small objects live to the end of a command: looking for others takes seconds.
gc.disable()

# Figures are written, never shown: what a shell chose for its own plots, or has misspelt, is no matter of ours.
os.environ["MPLBACKEND"] = "agg"

# For those who write this package, not for its users; -W shows them.
if not sys.warnoptions:
    warnings.simplefilter("ignore")

INTERNAL_ERROR = 70  # EX_SOFTWARE of sysexits.h


def guarded_main(program: str = "") -> int:
    """main() of the command line. An exception that nothing expected ends with INTERNAL_ERROR: Python's own 1 would
    read as a verdict."""
    try:
        from fourscore_analysis.cli import main

        return main(program=program)
    except Exception:
        traceback.print_exc()
        words = program or " ".join(["fourscore", *sys.argv[1:2]])
        print(f"{words}: an error of the program, not of its input; please report it", file=sys.stderr)
        return INTERNAL_ERROR


def report_program() -> int:
    """What `fourscore-report` of an installed wheel runs."""
    from fourscore_analysis.commands.report import PROGRAM

    return guarded_main(PROGRAM)


if __name__ == "__main__":
    sys.exit(guarded_main())
