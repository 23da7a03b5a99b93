#!/bin/sh
# Makes the secrets that the compose files mount: one file each in ./secrets, or in the folder that you name. Existing
# files are kept. Only the owner can open the folder. The users inside the containers can read the files.
#
# Keep a copy of master.key in a safe place. Without it, the index, the quarantine, and the review queue cannot be opened.
set -eu
folder=${1:-"$(dirname "$0")/secrets"}
umask 077
mkdir -p "$folder"
cd "$folder"
random() { head -c 32 /dev/urandom | base64 | tr '+/' '-_' | tr -d '\n='; }
keep() { # keep NAME: the standard input becomes that file, unless it exists
  if [ -e "$1" ]; then cat > /dev/null; else cat > "$1.part" && chmod 444 "$1.part" && mv "$1.part" "$1"; fi
}
certificate() { # certificate HOST: a key and a certificate, signed by our CA, for an internal service
  [ -e "$1.crt" ] && return
  printf 'subjectAltName=DNS:%s,DNS:localhost,IP:127.0.0.1\n' "$1" > "$1.ext"
  openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2> /dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -extfile "$1.ext" -out "$1.crt.part" 2> /dev/null
  rm "$1.csr" "$1.ext"
  chmod 444 "$1.key" "$1.crt.part"
  mv "$1.crt.part" "$1.crt"
}
random | keep master.key
random | keep postgres_password
printf 'postgres:5432:incognote:incognote:%s\n' "$(cat postgres_password)" | keep pgpass
random | keep index_password
printf 'root' | keep minio_root_user
random | keep minio_root_password
random | keep minio_worker_password
printf '[default]\naws_access_key_id = incognote-worker\naws_secret_access_key = %s\n' "$(cat minio_worker_password)" | keep s3_credentials
if [ ! -e ca.crt ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 -subj "/CN=incognote" \
    -keyout ca.key -out ca.crt.part 2> /dev/null
  chmod 444 ca.crt.part
  mv ca.crt.part ca.crt
fi
certificate opensearch
certificate llm
