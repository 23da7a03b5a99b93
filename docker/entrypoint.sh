#!/bin/sh
# Starts incognote. PostgreSQL's client accepts a password file only if its owner alone can read it. We cannot set the
# permissions of a mounted secret, so it is copied to /tmp, which is in memory.
set -eu
umask 077
if [ -r /run/secrets/pgpass ]; then
  cat /run/secrets/pgpass > /tmp/pgpass
  export PGPASSFILE=/tmp/pgpass
fi
exec incognote "$@"
