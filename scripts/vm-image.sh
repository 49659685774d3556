#!/usr/bin/env bash
# Makes the image that `halogen vm` boots: Debian's kernel, uncompressed, and an initial file system with busybox and i915.
# Usage: scripts/vm-image.sh [--kernel DEB] [FOLDER]; the default folder is build/vm. Does nothing if the image exists.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
deb=
[ "${1:-}" = --kernel ] && { deb=$(realpath "$2"); shift 2; }
out=${1:-$here/../build/vm}
mkdir -p "$out"
out=$(cd "$out" && pwd)

for tool in busybox dpkg-deb depmod cpio python3; do
  PATH=$PATH:/sbin:/usr/sbin command -v "$tool" >/dev/null || { echo "vm-image: $tool is missing; scripts/setup.sh installs it" >&2; exit 2; }
done
if [ -n "$deb" ] || [ ! -f "$out/vmlinux" ] || [ ! -f "$out/modules/order" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if [ -z "$deb" ]; then
    newest() { apt-cache depends linux-image-amd64 2>/dev/null | awk '$1 == "Depends:" { print $2; exit }'; }
    refresh() { # updates the package lists
      local run=()
      [ "$(id -u)" -eq 0 ] || run=(sudo)
      "${run[@]}" apt-get update -qq
    }
    download() { package=$(newest) && [ -n "$package" ] && (cd "$work" && apt-get download -qq "$package"); }
    # The usual reason for a failure: the package lists are missing, or older than the servers' packages.
    download || { refresh && download; } ||
      { echo "vm-image: ${package:-the package linux-image-amd64} cannot be downloaded; use --kernel DEB" >&2; exit 2; }
    deb=$(ls "$work"/*.deb)
  fi
  dpkg-deb -x "$deb" "$work/root"
  version=$(cd "$work" && ls root/lib/modules)
  PATH=$PATH:/sbin:/usr/sbin depmod -b "$work/root" "$version"
  # i915 and its dependencies, in load order.
  rm -rf "$out/modules"
  mkdir -p "$out/modules"
  dep=$(grep '/i915.ko:' "$work/root/lib/modules/$version/modules.dep")
  for module in $(printf '%s\n' ${dep#*:} | tac) "${dep%%:*}"; do
    cp "$work/root/lib/modules/$version/$module" "$out/modules/"
    basename "$module"
  done >"$work/order"
  python3 "$here/vm-kernel.py" "$work/root/boot/vmlinuz-$version" "$out/vmlinux.part"
  mv "$out/vmlinux.part" "$out/vmlinux"
  mv "$work/order" "$out/modules/order"
  echo "vm-image: $version in $out"
  rm -rf "$work" "$out/base.cpio"
fi
[ "$out/base.cpio" -nt "$here/vm-init.sh" ] && exit 0

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{bin,dev,proc,sys,tmp}
cp -r "$out/modules" "$tree/"
cp "$(command -v busybox)" "$tree/bin/busybox"
cp "$here/vm-init.sh" "$tree/init"
chmod +x "$tree/init"
(cd "$tree" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$out/base.cpio.part"
mv "$out/base.cpio.part" "$out/base.cpio"
