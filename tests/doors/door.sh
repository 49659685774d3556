# The common start of checks of `halogen run`; they source it. It changes to the root of the tree and sets $halogen (the
# tool; HALOGEN names another), $work (a temporary folder) and $devices (those of the command line, if any). Programs do not
# see the user's settings, and shader caches are off.
# usage: devices="the default devices"; . "$(dirname "$0")/door.sh"
set -euo pipefail
cd "$(dirname "$0")/../.."
halogen=${HALOGEN:-$PWD/build/bin/halogen}
[ -x "$halogen" ] || { echo "$(basename "$0" .sh): $halogen does not exist; run scripts/build.sh" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work HOME=$work MESA_SHADER_CACHE_DISABLE=true
[ $# -eq 0 ] || devices="$*"
