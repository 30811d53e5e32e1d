"""`python -m tui.command` is the `infospace` command."""

from __future__ import annotations

import sys

from tui.command import main

sys.exit(main())
