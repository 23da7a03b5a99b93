"""incognote on Spark: one script for a laptop and a cluster.

    from incognote.spark import deidentify, released

    notes = spark.read.parquet("notes")
    clean = deidentify(notes, text="note", patient="patient_id", key_file="/run/secrets/incognote-key")
    released(clean).write.parquet("released")

Each Python worker of Spark opens one Deidentifier and uses it for all of its tasks. The master key is read there, from
a file or from the worker's own environment. It never travels through Spark. Nothing is collected to the driver except
the counts of `tally`.
"""

from incognote.spark.delivery import deliver
from incognote.spark.drifting import drift
from incognote.spark.frames import deidentify, held, released
from incognote.spark.tallies import tally

__all__ = ["deidentify", "deliver", "drift", "held", "released", "tally"]
