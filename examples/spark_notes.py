# Databricks notebook source
# De-identify a table of notes. The same file is a script and a notebook: it runs unchanged on a laptop, on a cluster
# (spark-submit examples/spark_notes.py), and on Databricks. Each worker needs incognote and INCOGNOTE_KEY_FILE.
# The grouping below exchanges rows between the workers, so Spark encrypts what it writes to their disks.

# COMMAND ----------

import os

from pyspark.sql import SparkSession
from pyspark.sql.functions import expr

from incognote.spark import deidentify, held, released, tally

builder = SparkSession.builder.appName("incognote").config("spark.io.encryption.enabled", "true")
spark = builder.getOrCreate()
notes_at = os.environ.get("NOTES", "examples/notes.csv")
clean_at = os.environ.get("CLEAN", "clean")

# COMMAND ----------

# Each row of the table is a line of a note.
lines = spark.read.csv(notes_at, header=True, multiLine=True, escape='"')
note = expr("array_join(transform(array_sort(collect_list(struct(int(line), text))), each -> each.text), '\\n')")
notes = lines.groupBy("note_id", "patient_id", "author").agg(note.alias("note"))

# COMMAND ----------

clean = deidentify(notes, text="note", patient="patient_id", id="note_id", known="author")
clean.write.mode("error").partitionBy("verdict").parquet(clean_at)

# COMMAND ----------

written = spark.read.schema(clean.schema).parquet(clean_at)
counts = tally(written, read=notes.count())
print(f"{counts.read} notes: {counts.outcomes['release']} released, {counts.held} held")  # noqa: T201 -- the output of the script

# COMMAND ----------

released(written).select("note_id", "patient_id", "note").show(3, truncate=60)
held(written).select("note_id", "verdict", "reasons").show(3, truncate=60)
