#!/usr/bin/env python
"""A container's health check: `healthy.py URL` ends with 0 where the URL answers 200."""

import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1], timeout=4) as answer:  # noqa: S310 -- the address stands in compose.yaml
    sys.exit(answer.status != 200)
