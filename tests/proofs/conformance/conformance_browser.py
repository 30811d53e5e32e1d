"""A browser without a window: follows an address to where it leads, as one does whose user consents at once."""

from __future__ import annotations

import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1], timeout=30) as page:  # noqa: S310 - of the suite
    page.read()
