# Makes Debian roots and enters them; scripts source it. Only root can do either. `me`: the name of the script in messages.

# need_root_tools: ends the script with a message if it cannot make or enter a root.
need_root_tools() {
  export PATH=$PATH:/sbin:/usr/sbin
  [ "$(id -u)" -eq 0 ] || { echo "$me: only root can make and enter a Debian root" >&2; exit 2; }
  command -v unshare >/dev/null || { echo "$me: the package util-linux is missing" >&2; exit 2; }
  unshare --mount --ipc true 2>/dev/null || { echo "$me: this system does not allow new mount namespaces (a container?)" >&2; exit 2; }
}

# Prints the mirror that this machine gets its own packages from.
own_mirror() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
  [ -n "$mirror" ] || { echo "$me: apt knows no mirror of Debian; name one" >&2; return 1; }
  echo "$mirror"
}

# make_root FOLDER RELEASE MIRROR: makes the root if it does not exist. It gets this machine's settings for downloads, for example a
# proxy.
make_root() {
  local root=$1 release=$2 mirror=$3
  if [ ! -x "$root/usr/bin/dpkg" ] || [ -e "$root/debootstrap" ]; then
    command -v debootstrap >/dev/null || { echo "$me: the package debootstrap is missing" >&2; return 2; }
    mkdir -p "$root" || { echo "$me: $root cannot be made" >&2; return 2; }
    if ! unshare --mount debootstrap --variant=minbase "$release" "$root" "$mirror" >"$root.log" 2>&1; then
      tail -n 5 "$root.log" >&2
      echo "$me: debootstrap failed; is $mirror reachable, and has it $release? All messages: $root.log" >&2
      return 2
    fi
  fi
  apt-config dump Acquire | grep -E '^Acquire::(Check-Valid-Until|Proxy|https?::Proxy|https?::CaInfo)' \
    >"$root/etc/apt/apt.conf.d/80host" || true
}

# inside ROOT COMMAND...: runs a command in the root with mounts of its own, which end with it. BOUND, if it is set, is a folder of
# this machine that the command sees as /bound.
inside() {
  root=$1 BOUND=${BOUND:-} unshare --mount --ipc --fork --kill-child sh -c '
    shift
    mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /sys "$root/sys" &&
      mount --rbind /dev "$root/dev" || exit 125
    if [ -n "$BOUND" ]; then mkdir -p "$root/bound" && mount --bind "$BOUND" "$root/bound" || exit 125; fi
    exec env -u BOUND -u root chroot "$root" "$@"' sh "$@"
}

# copy_tool ROOT BUILD_FOLDER: copies the tool and the preload library to /opt/halogen of the root, with those of their libraries
# that the root does not have (to /opt/halogen/libraries).
copy_tool() {
  local root=$1 from=$2 file needed
  for file in "$from/bin/halogen" "$from/lib/libhalogen-drm.so"; do
    [ -f "$file" ] || { echo "$me: $file does not exist; run scripts/build.sh" >&2; return 2; }
  done
  mkdir -p "$root/opt/halogen/bin" "$root/opt/halogen/lib" "$root/opt/halogen/libraries"
  cp "$from/bin/halogen" "$root/opt/halogen/bin/"
  cp "$from/lib/libhalogen-drm.so" "$root/opt/halogen/lib/"
  ldd "$from/bin/halogen" "$from/lib/libhalogen-drm.so" | awk '$2 == "=>" { print $3 }' | sort -u | while read -r needed; do
    find "$root/usr/lib" -name "$(basename "$needed")" 2>/dev/null | grep -q . || cp -L "$needed" "$root/opt/halogen/libraries/"
  done
}
