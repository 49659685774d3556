#!/usr/bin/env bash
# Runs the test `perf` of intel-gpu-tools (igt-gpu-tools-tests of Debian sid) on the model, in a Debian root of its own, and
# compares with the lists in tests/conformance/igt-perf. Not part of the check: it downloads packages. Some subtests measure the
# host's time (buffer-fill, enable-disable, blocking, polling), so nothing else should run meanwhile; a subtest that differs from the
# list is tried three times. Two minutes for each chip.
# usage: igt-perf.sh [--only SUBTEST]... ROOT [CHIP...]   (as root; HALOGEN names the tool; default chips: chv icl tgl)
#   ROOT: a folder; if it is empty or missing, debootstrap makes the Debian root there. A later run uses it again.
set -euo pipefail
only=()
while [ "${1:-}" = --only ]; do
  only+=("$2")
  shift 2
done
[ $# -ge 1 ] || { sed -n '2,6s/^# //p' "$0" >&2; exit 2; }
root=$1
shift
chips=("$@")
[ ${#chips[@]} -gt 0 ] || chips=(chv icl tgl)
here=$(cd "$(dirname "$0")/.." && pwd)
halogen=${HALOGEN:-$here/build/bin/halogen}
tests=/usr/libexec/igt-gpu-tools/perf
limit=100 # seconds for a subtest
me=igt-perf
. "$here/scripts/debian-root.sh"
need_root_tools
if [ ! -x "$root/bin/sh" ]; then
  mirror=$(own_mirror) || exit 2
  make_root "$root" sid "$mirror" || exit 2
fi
if [ ! -x "$root$tests" ]; then
  inside "$root" sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends igt-gpu-tools-tests'
fi
copy_tool "$root" "$(dirname "$halogen")/.." || exit 2
# IGT's allocator sends messages that are larger than the usual limit of a message queue.
in_igt() {
  inside "$root" sh -c 'echo 1048576 >/proc/sys/kernel/msgmnb && echo 65536 >/proc/sys/kernel/msgmax &&
    LD_LIBRARY_PATH=/opt/halogen/libraries exec "$@"' sh "$@"
}

# Prints pass, skip, fail, crash or timeout.
result_of() {
  local chip=$1 subtest=$2 status=0
  in_igt timeout -k 5 "$limit" /opt/halogen/bin/halogen run --device "$chip" -- "$tests" --run-subtest "$subtest" \
    >"$work/out" 2>&1 </dev/null || status=$?
  case $status in
    0) echo pass ;;
    77) echo skip ;;
    124 | 137) echo timeout ;;
    98 | 99 | 1) echo fail ;;
    *) echo crash ;;
  esac
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for chip in "${chips[@]}"; do
  list=$here/tests/conformance/igt-perf/$chip.txt
  [ -f "$list" ] || list=/dev/null
  wrong=0 good=0
  while read -r subtest; do
    [ ${#only[@]} -eq 0 ] || [[ " ${only[*]} " == *" $subtest "* ]] || continue
    wanted=$(awk -v name="$subtest" '$1 == name { print $2 }' "$list")
    start=$SECONDS
    for _ in 1 2 3; do
      result=$(result_of "$chip" "$subtest")
      [ "$result" != "$wanted" ] || break
    done
    note=
    if [ "$result" != "$wanted" ]; then
      note=" ; the list says ${wanted:-nothing}"
      wrong=$((wrong + 1))
    fi
    [ "$result" != pass ] || good=$((good + 1))
    echo "igt-perf: $chip: $subtest $result $((SECONDS - start)) s$note"
    [ -z "$note" ] || tail -n 12 "$work/out" | sed 's/^/    /' >&2
  done < <(in_igt "$tests" --list-subtests)
  echo "igt-perf: $chip: $good subtests pass, $wrong differ from the list"
  [ "$wrong" -eq 0 ] || failed=1
done
exit "$failed"
