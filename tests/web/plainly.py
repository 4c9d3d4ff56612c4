"""Requests without a browser. What would check certificates takes 60 ms to set up, and these pages have none."""

from __future__ import annotations

from functools import partial

import httpx2

get = partial(httpx2.get, verify=False, timeout=60)
head = partial(httpx2.head, verify=False, timeout=60)
