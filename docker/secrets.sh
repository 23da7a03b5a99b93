#!/bin/sh
# Makes the secrets that compose.yaml mounts, each a file in ./secrets (or the folder that is named), once: what is there
# stays. The folder is its owner's alone; the files in it are readable by the users inside the containers.
#
# Keep a copy of master.key in a safe place: nobody can open the index, the quarantine or the review queue without it.
set -eu
folder=${1:-"$(dirname "$0")/secrets"}
umask 077
mkdir -p "$folder"
cd "$folder"
random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n='; }
keep() { # keep NAME: the standard input becomes that file, unless there is one
  if [ -e "$1" ]; then cat > /dev/null; else cat > "$1.part" && chmod 444 "$1.part" && mv "$1.part" "$1"; fi
}
random | keep master.key
random | keep postgres_password
printf 'postgres:5432:incognote:incognote:%s\n' "$(cat postgres_password)" | keep pgpass
printf 'root' | keep minio_root_user
random | keep minio_root_password
random | keep minio_worker_password
printf '[default]\naws_access_key_id = incognote-worker\naws_secret_access_key = %s\n' "$(cat minio_worker_password)" | keep s3_credentials
