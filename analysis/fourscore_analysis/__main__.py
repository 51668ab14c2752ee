import sys

from fourscore_analysis.cli import main

sys.exit(main())
