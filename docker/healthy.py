#!/usr/bin/env python
"""The health check of a container: `healthy.py URL` exits with 0 if the URL answers with status 200."""

import sys
import urllib.request

with urllib.request.urlopen(sys.argv[1], timeout=4) as answer:  # noqa: S310 -- the address is in compose.yaml
    sys.exit(answer.status != 200)
