#!/usr/bin/env bash
# Checks the model with the drivers of another Debian: makes a Debian 13 root with debootstrap, installs there (scripts/setup.sh),
# builds there (release), and runs the doors, pictures, compute programs and piglit's samples with that release's drivers. Results
# are compared with the lists in tests/conformance/stacks/STACK; one line for each door and device. Not part of the check: it
# downloads 2 GB and takes an hour or more. Run it as root before an issue is closed.
# usage: matrix.sh [--stack STACK] [--root FOLDER] [--mirror URL] [--tool FOLDER] [--door NAME]... [--sample N] [--keep] [CHIP...]
#   --stack STACK   debian13 (default), debian13-backports (Mesa of the backports), or debian13-neo (also Intel's OpenCL and Level
#                   Zero drivers of sid)
#   --root FOLDER   the Debian root; if it is empty or missing, it is made. Default: build/roots/STACK
#   --mirror URL    where packages come from; default: where this machine gets its own
#   --tool FOLDER   a build folder of this machine (build, build/dev): use its tool, and build nothing in the root
#   --door NAME     only this door; tests/conformance/stack.py --help lists them
#   --sample N      one counted test of piglit in N (default: all of the stack's lists)
#   --keep          write the results into the stack's lists, in this tree
#   CHIP            only these chips (default: all that a door knows)
# Exit: 0 all results are as listed; 1 some differ; 2 it could not run.
set -euo pipefail
me=matrix
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/scripts/debian-root.sh"
usage() { sed -n '6,17s/^# //p' "$0"; }
stack=debian13 root='' mirror='' tool='' words=() install=(build run test)
while [ $# -gt 0 ]; do
  case $1 in
    --stack) stack=${2:?} && shift ;;
    --root) root=${2:?} && shift ;;
    --mirror) mirror=${2:?} && shift ;;
    --tool) tool=$(cd "${2:?}" && pwd) && shift ;;
    --door | --sample) words+=("$1" "${2:?}") && shift ;;
    --keep) words+=("$1") ;;
    -h | --help) usage && exit 0 ;;
    -*) echo "matrix: unknown option $1" >&2 && usage >&2 && exit 2 ;;
    *) words+=("$1") ;;
  esac
  shift
done
root=${root:-$here/build/roots/$stack}
suites=()
case $stack in
  debian13) ;;
  debian13-backports) suites=(trixie-backports) ;;
  debian13-neo) suites=(trixie-backports sid) ;;
  *) echo "matrix: unknown stack $stack" >&2 && usage >&2 && exit 2 ;;
esac
mesa=(libegl-mesa0 libgbm1 libgl1-mesa-dri libglx-mesa0 mesa-opencl-icd mesa-vulkan-drivers)
neo=(intel-opencl-icd libze-intel-gpu1 libze1 libze-dev)
screens=(glmark2-drm glmark2-es2-drm kmscube seatd vkmark weston)

need_root_tools
mirror=${mirror:-$(own_mirror)} || exit 2
make_root "$root" trixie "$mirror" || exit 2

# Installs the packages of the stack; does nothing if they are there.
for suite in "${suites[@]}"; do
  list=$root/etc/apt/sources.list.d/$suite.list
  [ -e "$list" ] || { echo "deb $mirror $suite main" >"$list" && rm -f "$root/var/lib/halogen-installed"; }
done
apt_get() { DEBIAN_FRONTEND=noninteractive inside "$root" apt-get "$@"; }
# The tree without what it ignores; a build folder inside the root stays.
copy_tree() {
  mkdir -p "$root/opt/halogen/tree"
  (cd "$here" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' name; do
    [ ! -e "$name" ] || printf '%s\0' "$name"
  done) >"$root/opt/halogen/files"
  (cd "$root/opt/halogen/tree" && find . -path ./build -prune -o -type f -print0 | LC_ALL=C sed -z 's,^\./,,' | LC_ALL=C sort -z |
    LC_ALL=C comm -z -23 - <(LC_ALL=C sort -z "$root/opt/halogen/files") | xargs -0 -r rm -f)
  tar -C "$here" --null -T "$root/opt/halogen/files" -c | tar -C "$root/opt/halogen/tree" -x
}
copy_tree
source=/opt/halogen/tree
if [ ! -e "$root/var/lib/halogen-installed" ] || [ "$here/scripts/packages.txt" -nt "$root/var/lib/halogen-installed" ]; then
  echo "matrix: $stack: installing packages; messages: $root.log"
  {
    apt_get update &&
      inside "$root" "$source/scripts/setup.sh" "${install[@]}" &&
      apt_get install -y --no-install-recommends "${screens[@]}" &&
      { [ ${#suites[@]} -eq 0 ] || apt_get install -y --no-install-recommends -t trixie-backports "${mesa[@]}"; } &&
      { [[ " ${suites[*]} " != *" sid "* ]] || apt_get install -y --no-install-recommends -t sid "${neo[@]}"; }
  } >"$root.log" 2>&1 || {
    tail -n 5 "$root.log" >&2
    echo "matrix: packages could not be installed from $mirror; all messages: $root.log" >&2
    exit 2
  }
  touch "$root/var/lib/halogen-installed"
fi

if [ -n "$tool" ]; then
  copy_tool "$root" "$tool" || exit 2
  halogen=/opt/halogen/bin/halogen
else
  echo "matrix: $stack: building; messages: $root.build.log"
  HALOGEN_PRECOMPILED=${HALOGEN_PRECOMPILED:-OFF} inside "$root" "$source/scripts/build.sh" release tools >"$root.build.log" 2>&1 || {
    grep -E 'error|warning' "$root.build.log" | head -n 10 >&2
    echo "matrix: the build failed; all messages: $root.build.log" >&2
    exit 2
  }
  halogen=$source/build/bin/halogen
fi

data=${HALOGEN_DATA:-$here/../shared/data}
status=0
if [ -d "$data" ]; then BOUND=$(cd "$data" && pwd); fi
export BOUND
inside "$root" env LC_ALL=C.UTF-8 HALOGEN="$halogen" HALOGEN_DATA=/bound LD_LIBRARY_PATH=/opt/halogen/libraries \
  python3 "$source/tests/conformance/stack.py" "$stack" "${words[@]}" || status=$?
# Lists that were kept come back.
if [[ " ${words[*]} " == *" --keep "* ]]; then
  mkdir -p "$here/tests/conformance/stacks/$stack"
  cp -r "$root$source/tests/conformance/stacks/$stack/." "$here/tests/conformance/stacks/$stack/"
fi
exit "$status"
