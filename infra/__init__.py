"""Engines, settings, the command line. Whatever Python comes here first is told if it is too old."""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - an older one would fail with a riddle instead
    sys.exit("shanghai: needs Python 3.11 or newer, and this is %d.%d" % sys.version_info[:2])  # noqa: UP031
