"""The race: the same work on the CPU and on the card, timed honestly.

Imports nothing outside the standard library until a lane runs, and runs on Python 3.9 and newer, because
``make race-here`` takes whatever Python a machine has its torch in.
"""

from __future__ import annotations

SCHEMA = 2

# What was measured and how: raised whenever numbers from before can no longer be compared with those after.
RACE_VERSION = 3
