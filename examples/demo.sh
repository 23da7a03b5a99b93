#!/bin/sh
# Run by `make demo`: de-identifies the examples offline, without a key or settings.
set -eu
incognote=$1
here=$(dirname "$0")
out=demo-out
rm -rf "$out" "$out-quarantine"

echo "── A discharge summary, printed to the terminal"
"$incognote" deid "$here/discharge_summary.txt"
echo
echo "── RedactOR's sample record, which has no dataType, with the policy of the paper"
"$incognote" deid "$here/redactor_record.json" --data-type clinicalRecord --policy paper
echo
echo "── A Word letter, a PDF letter, a FHIR Bundle, a CSV, and fifty records, into a folder"
"$incognote" deid "$here/letter.docx" "$here/letter.pdf" "$here/bundle.json" "$here/notes.csv" "$here/records.jsonl" \
  --data-type csvNotes --out "$out" || test $? -eq 3
echo
case $(command -v incognote || true) in
  "") echo "To run incognote yourself, type $incognote, or first: PATH=\"\$PWD/$(dirname "$incognote"):\$PATH\"" ;;
  *) echo "To run incognote yourself, type: incognote --help" ;;
esac
