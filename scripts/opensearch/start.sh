#!/usr/bin/env bash
# start.sh DATA_FOLDER PORT: one OpenSearch node in the foreground, on the loopback, until its standard input ends; prints
# "READY PORT" when HTTP answers. Needs a JDK (17 or later) and Maven; the jars are fetched once, into a cache of the user's.
# For tests and for trying the index; a real cluster has TLS, passwords and more than one node.
set -eu
data=${1:?data folder} port=${2:?port}
here=$(cd "$(dirname "$0")" && pwd)
made=${INCOGNOTE_NODE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/incognote/opensearch-node}
mkdir -p "$made"
{
  flock 9 # one build at a time
  if ! cmp -s "$here/Node.java" "$made/Node.java" || ! cmp -s "$here/pom.xml" "$made/pom.xml"; then
    mvn -q -B -Dstyle.color=never -f "$here/pom.xml" -Dout="$made" process-classes >&2
    cp "$here/Node.java" "$here/pom.xml" "$made/"
  fi
} 9>"$made/lock"
exec java -Xms512m -Xmx1g -XX:TieredStopAtLevel=1 -cp "$made/classes:$made/lib/*:$made/knn/*" Node "$data" "$port"
