#!/bin/sh
# Starts incognote. PostgreSQL's client reads a password file only if nobody but its owner may, and the rights of a
# mounted secret are not ours to set: so it is copied into memory.
set -eu
umask 077
if [ -r /run/secrets/pgpass ]; then
  cat /run/secrets/pgpass > /tmp/pgpass
  export PGPASSFILE=/tmp/pgpass
fi
exec incognote "$@"
