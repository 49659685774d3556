#!/usr/bin/env bash
# Prints the environment, as words NAME=VALUE, with which a loader takes one driver of this machine. File names differ between
# releases of Debian. Ends with 1 and a message if the driver is not installed.
# usage: driver-settings.sh vulkan DEVICE | lavapipe      Mesa's driver for a device, or its software driver
#        driver-settings.sh opencl DEVICE | pocl          Intel's driver where it supports the device, else Mesa's rusticl; PoCL
set -euo pipefail
usage() { sed -n '4,5s/^# //p' "$0" >&2; exit 2; }
[ $# -eq 2 ] || usage

vulkan() {
  local file name=intel
  case $1 in
    lavapipe) name=lvp ;;
    bdw | chv) name=intel_hasvk ;;
  esac
  for file in /usr/share/vulkan/icd.d/"$name"_icd{,.x86_64}.json; do
    [ ! -e "$file" ] || { echo "VK_ICD_FILENAMES=$file"; return; }
  done
  echo "driver-settings: no file ${name}_icd*.json; install mesa-vulkan-drivers" >&2
  return 1
}

# Intel's driver supports Gen8 to Gen12 up to version 22, and Gen12 only afterwards.
intel_supports() {
  local version
  [ -e /etc/OpenCL/vendors/intel.icd ] && version=$(dpkg-query -W -f '${Version}' intel-opencl-icd 2>/dev/null) || return 1
  case $1 in
    tgl | dg1) true ;;
    bdw | skl | icl) [ "${version%%.*}" -le 22 ] ;;
    *) false ;;
  esac
}

opencl() {
  if [ "$1" = pocl ]; then
    [ ! -e /etc/OpenCL/vendors/pocl.icd ] || { echo OCL_ICD_VENDORS=/etc/OpenCL/vendors/pocl.icd; return; }
    echo "driver-settings: PoCL is missing; install pocl-opencl-icd" >&2
    return 1
  fi
  if intel_supports "$1"; then
    echo OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd
  elif [ -e /etc/OpenCL/vendors/rusticl.icd ]; then
    echo OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd RUSTICL_ENABLE=iris
  else
    echo "driver-settings: no OpenCL driver for $1; install intel-opencl-icd or mesa-opencl-icd" >&2
    return 1
  fi
}

case $1 in
  vulkan) vulkan "$2" ;;
  opencl) opencl "$2" ;;
  *) usage ;;
esac
