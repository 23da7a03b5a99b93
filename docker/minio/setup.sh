#!/bin/sh
# Makes the buckets, and the worker's user: it may read the source, only write to the destination, and stage shards between them.
set -eu
export MC_CONFIG_DIR=/tmp/mc
mc alias set store http://minio:9000 "$(cat /run/secrets/minio_root_user)" "$(cat /run/secrets/minio_root_password)"
mc mb --ignore-existing store/sink store/lab store/staging
mc admin user add store incognote-worker "$(cat /run/secrets/minio_worker_password)"
mc admin policy create store one-way /setup/one-way.json
mc admin policy attach store one-way --user incognote-worker || mc admin policy entities store --user incognote-worker
