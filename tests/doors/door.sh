# What checks of `halogen run` begin with; they source it. From then on: the current folder is the tree's, $halogen the
# binary (HALOGEN names another), $work a folder for the time of the check, $devices those of the command line, if any.
# Programs find nothing of the user's, and keep no shaders.
# usage: devices="some by themselves"; . "$(dirname "$0")/door.sh"
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=${HALOGEN:-$PWD/build/bin/halogen}
[ -x "$halogen" ] || { echo "$(basename "$0" .sh): $halogen is not there: scripts/build.sh" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work HOME=$work MESA_SHADER_CACHE_DISABLE=true
[ $# -eq 0 ] || devices="$*"
