#!/bin/busybox sh
# The first process of a guest: brings up the driver, runs /halogen/run, and ends the machine with its status.
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /sys/kernel/debug && mount -t debugfs debug /sys/kernel/debug
while read -r module; do
  options=
  [ "$module" = i915.ko ] && options=$(cat /halogen/module-options)
  insmod "/modules/$module" $options
done </modules/order
/halogen/run
status=$?
sync
printf "\\$(printf %03o "$status")" | dd of=/dev/port bs=1 seek=244 conv=notrunc 2>/dev/null
poweroff -f
