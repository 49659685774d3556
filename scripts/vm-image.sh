#!/usr/bin/env bash
# Makes what `halogen vm` boots: Debian's kernel, uncompressed, and a first file system with busybox and i915.
# Usage: scripts/vm-image.sh [--kernel DEB] [FOLDER]; the folder is build/vm unless named. Does nothing where all is there.
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
[ -f "$out/base.cpio" ] && [ -f "$out/vmlinux" ] && [ -z "$deb" ] && [ "$out/base.cpio" -nt "$here/vm-init.sh" ] && exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$deb" ]; then
  package=$(apt-cache depends linux-image-amd64 | awk '$1 == "Depends:" { print $2; exit }')
  (cd "$work" && apt-get download -qq "$package")
  deb=$(ls "$work"/*.deb)
fi
dpkg-deb -x "$deb" "$work/root"
version=$(cd "$work" && ls root/lib/modules)
python3 "$here/vm-kernel.py" "$work/root/boot/vmlinuz-$version" "$out/vmlinux"
PATH=$PATH:/sbin:/usr/sbin depmod -b "$work/root" "$version"

tree=$work/tree
mkdir -p "$tree"/{bin,dev,proc,sys,tmp,modules}
cp "$(command -v busybox)" "$tree/bin/busybox"
cp "$here/vm-init.sh" "$tree/init"
chmod +x "$tree/init"
# i915 and what it needs, in the order in which they must come.
dep=$(grep '/i915.ko:' "$work/root/lib/modules/$version/modules.dep")
for module in $(printf '%s\n' ${dep#*:} | tac) "${dep%%:*}"; do
  cp "$work/root/lib/modules/$version/$module" "$tree/modules/"
  basename "$module"
done >"$tree/modules/order"
(cd "$tree" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$out/base.cpio.part"
mv "$out/base.cpio.part" "$out/base.cpio"
echo "vm-image: $version in $out"
