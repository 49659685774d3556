#!/usr/bin/env bash
# Installs the Debian packages of packages.txt that are missing.
# usage: setup.sh [build | run | test ...]   tiers (default: all)
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tiers=("$@")
[ ${#tiers[@]} -gt 0 ] || tiers=(build run test)
for tier in "${tiers[@]}"; do
  grep -qx "\[$tier\]" "$here/packages.txt" || { echo "setup: unknown tier $tier; usage: scripts/setup.sh [build | run | test ...]" >&2; exit 2; }
done

# Prints the lines of the tiers: a name, "a | b", or "a ?".
lines() {
  awk -v tiers=" ${tiers[*]} " '/^#|^$/ { next } /^\[/ { gsub(/[][]/, ""); wanted = index(tiers, " " $0 " "); next } wanted' "$here/packages.txt"
}
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]; }
available() { apt-cache show --no-all-versions "$1" >/dev/null 2>&1; }

# Sets `missing` to the lines of which no package is installed.
missing=()
while read -r line; do
  here_already=
  for name in ${line//[|?]/ }; do ! installed "$name" || here_already=1; done
  [ -n "$here_already" ] || missing+=("$line")
done < <(lines)
[ ${#missing[@]} -gt 0 ] || exit 0

# Chooses a name for each line.
choose() {
  local line name
  chosen=() unavailable=() left_out=()
  for line in "${missing[@]}"; do
    for name in ${line//[|?]/ }; do
      available "$name" && chosen+=("$name") && continue 2
    done
    case "$line" in *\?) left_out+=("${line% \?}") ;; *) unavailable+=("$line") ;; esac
  done
}

run=()
[ "$(id -u)" -eq 0 ] || run=(sudo)
choose
# Only packages that a release may lack are missing: the lists are not fetched again at each run.
if [ ${#chosen[@]} -gt 0 ] || [ ${#unavailable[@]} -gt 0 ]; then
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    echo "setup: packages are missing and sudo is not available; run as root to install: ${chosen[*]} ${unavailable[*]}" >&2
    exit 2
  fi
  export DEBIAN_FRONTEND=noninteractive
  "${run[@]}" apt-get update -qq
  choose
  if [ ${#unavailable[@]} -gt 0 ]; then
    echo "setup: this release has no package ${unavailable[*]}; Debian 12 and 13 have them" >&2
    exit 2
  fi
  echo "setup: installing ${chosen[*]}"
  "${run[@]}" apt-get install -y -qq --no-install-recommends "${chosen[@]}"
fi
[ ${#left_out[@]} -eq 0 ] || echo "setup: this release has no package ${left_out[*]}; what needs it is skipped"
