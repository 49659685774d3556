#!/bin/busybox sh
# The first process of a guest: loads the driver, runs /halogen/run, reports its status and powers the machine off.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /sys/kernel/debug && mount -t debugfs debug /sys/kernel/debug
# Measures the time from the driver's start to its render node, in hundredths of a second (the resolution of /proc/uptime).
now() { cut -d' ' -f1 /proc/uptime | tr -d .; }
while read -r module; do
  options=
  [ "$module" = i915.ko ] && options=$(cat /halogen/module-options)
  [ "$module" = i915.ko ] && start=$(now)
  insmod "/modules/$module" $options
done </modules/order
[ -e /dev/dri/renderD128 ] && echo $(($(now) - start)) >/halogen/bind-time
/halogen/run
status=$?
sync
printf "\\$(printf %03o "$status")" | dd of=/dev/port bs=1 seek=244 conv=notrunc 2>/dev/null
poweroff -f
