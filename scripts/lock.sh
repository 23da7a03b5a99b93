#!/bin/sh
# Makes docker/requirements.lock and docker/build.lock: what the image is installed and built from, with hashes, for
# Linux and Python 3.11 to 3.13. The pins are those of constraints.txt; what has none there is pinned by the lock alone.
# Needs uv (python -m pip install uv) and the package index. Run it after every change of pyproject.toml's dependencies
# or of constraints.txt; a test compares the three.
set -eu
cd "$(dirname "$0")/.."
extras="service s3 telemetry llm opensearch documents images dicom audio parquet sql"
compile() { # compile OUT ARGUMENTS...: the lock, with the line that says where it is from
  out=$1
  shift
  "${UV:-uv}" pip compile "$@" --universal --python-version 3.11 -c constraints.txt --generate-hashes \
    --no-emit-index-url --no-header --no-annotate --quiet --output-file "$out.part"
  { printf '# Made by scripts/lock.sh from constraints.txt; do not edit.\n'; cat "$out.part"; } > "$out"
  rm "$out.part"
}
arguments=
for extra in $extras; do arguments="$arguments --extra $extra"; done
compile docker/requirements.lock pyproject.toml $arguments
printf 'hatchling>=1.25,<2\ncyclonedx-bom>=7.5,<8\n' | compile docker/build.lock -
