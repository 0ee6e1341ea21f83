import sys

from kafkastub.cli import main

sys.exit(main())
