#!/bin/sh
# Writes the one user there is, with the hash of the password in its secret, and starts the node.
set -eu
cd /usr/share/opensearch
hash=$(plugins/opensearch-security/tools/hash.sh -p "$(cat /run/secrets/index_password)" | tail -n 1)
cat > config/opensearch-security/internal_users.yml <<END
_meta:
  type: internalusers
  config_version: 2
incognote:
  hash: "$hash"
  opensearch_security_roles: [incognote]
END
exec ./opensearch-docker-entrypoint.sh opensearch
