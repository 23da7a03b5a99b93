#!/bin/sh
# What `make demo` runs: the main job on the examples, offline, with no key and no configuration.
set -eu
incognote=$1
here=$(dirname "$0")
out=demo-out
rm -rf "$out" "$out-quarantine"

echo "── a discharge summary, to the terminal"
"$incognote" deid "$here/discharge_summary.txt"
echo
echo "── RedactOR's sample record, which carries no dataType, with the paper's policy"
"$incognote" deid "$here/redactor_record.json" --data-type clinicalRecord --policy paper
echo
echo "── a folder's worth: a FHIR Bundle, a CSV and fifty records"
"$incognote" deid "$here/bundle.json" "$here/notes.csv" "$here/records.jsonl" --data-type csvNotes --out "$out" || test $? -eq 3
