import sys

from fourscore_analysis.cli import main

if __name__ == "__main__":  # `fourscore report` imports this module first, to see whether it can be loaded
    sys.exit(main())
