"""`python -m kafkastub_pipeline`, and what spark-submit is given."""

from __future__ import annotations

import sys

from kafkastub_pipeline.cli import main

sys.exit(main())
