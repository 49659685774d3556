#!/bin/busybox sh
# The first process of a guest: brings up the driver, runs /halogen/run, and ends the machine with its status.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /sys/kernel/debug && mount -t debugfs debug /sys/kernel/debug
# How long the driver takes from its start to its render node, in hundredths of a second (the kernel counts no finer).
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
