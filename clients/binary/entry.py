"""What the packaged `kafkastub` runs."""

import sys

from kafkastub.cli import main

sys.exit(main())
