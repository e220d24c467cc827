"""Log lines as the real programs write them to stderr."""

from __future__ import annotations

import json
import sys
import time


def say(level: str, message: str) -> None:
    """Write one line; the message is quoted as logrus does."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    print(f'time="{now}" level={level} msg={json.dumps(message, ensure_ascii=False)}', file=sys.stderr)
