"""The rules' tables are read once, even if several threads start at the same time."""

from __future__ import annotations

import subprocess
import sys

TOGETHER = """
import gzip, sys, threading
from incognote.detectors.rules import RulesDetector
from incognote.nouns import Text
read, real = [], gzip.decompress
def decompress(data):
    read.append(hash(data))
    return real(data)
gzip.decompress = decompress
sys.setswitchinterval(0.001)
rules = RulesDetector()
texts = [Text(f"Seen by Dr. Emily Carter on 03/{n}/2025.") for n in range(1, 7)]
threads = [threading.Thread(target=rules.detect, args=([text],)) for text in texts]
[one.start() for one in threads]
[one.join() for one in threads]
print(len(read), len(set(read)))
"""


def test_threads_that_begin_together_read_each_table_once() -> None:
    done = subprocess.run([sys.executable, "-c", TOGETHER], capture_output=True, text=True, check=True)
    read, tables = map(int, done.stdout.split())
    assert read == tables > 0
