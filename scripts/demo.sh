#!/usr/bin/env bash
# The main job: unmodified programs on unmodified Debian drivers run on the model, and the results are shown. An OpenCL
# program on Intel's driver and a Vulkan program on Mesa's each compute a picture, with a summary of what the model
# executed. Then GL and Vulkan scenes are drawn.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/setup.sh build run
scripts/build.sh release tools
halogen=$PWD/build/bin/halogen
out=$PWD/build/demo
mkdir -p "$out/programs"
export XDG_RUNTIME_DIR=$out/programs MESA_SHADER_CACHE_DISABLE=true
for api in opencl vulkan; do
  c++ -std=c++20 -O1 -Itests/compute -o "$out/programs/$api" "demo/pictures/${api}_picture.cpp" -lOpenCL -lvulkan -lpng
done
glslangValidator -V --quiet -o "$out/programs/spheres.spv" demo/pictures/spheres.comp

# picture DEVICE NAME PROGRAM [ARGUMENTS...]: runs the program, which writes the picture NAME.png.
picture() {
  local device=$1 name=$2
  shift 2
  echo
  echo "$name on $device:"
  "$halogen" run --device "$device" --report "$out/$name.json" -- "$@" "$out/$name.png"
  python3 scripts/summary.py "$out/$name.json"
  echo "  picture: build/demo/$name.png"
}

"$halogen" devices
read -ra opencl < <(scripts/driver-settings.sh opencl icl)
read -ra vulkan < <(scripts/driver-settings.sh vulkan dg1)
picture icl mandelbrot env "${opencl[@]}" "$out/programs/opencl" demo/pictures
picture dg1 spheres env "${vulkan[@]}" "$out/programs/vulkan" "$out/programs"
# GL and Vulkan scenes on two generations; the first row of each picture is drawn by Mesa's software drivers.
echo
python3 tests/doors/shows.py --keep "$out" snb dg1
echo "  pictures: build/demo/gl_shows.png, build/demo/vulkan_shows.png"
# Intel's OpenCL driver can also write its command streams into a trace; the model executes such traces.
products=(icllp dg1)
[ -e /etc/OpenCL/vendors/intel.icd ] || { echo "traces: left out, because this release has no intel-opencl-icd" && products=(); }
cc -O1 -o "$out/programs/triple" demo/triple.c -lOpenCL
for product in "${products[@]}"; do
  rm -f "$out/$product.aub"
  OCL_ICD_VENDORS=/etc/OpenCL/vendors/intel.icd NEOReadDebugKeys=1 SetCommandStreamReceiver=1 \
    ProductFamilyOverride=$product AUBDumpCaptureFileName="$out/$product.aub" "$out/programs/triple" >/dev/null || [ $? -eq 3 ]
  echo
  echo "the trace build/demo/$product.aub of one OpenCL kernel:"
  "$halogen" decode --summary "build/demo/$product.aub"
  "$halogen" replay "build/demo/$product.aub"
done
echo
echo "Full reports: build/demo/*.json. More pictures: docs/gallery.md. What to try next: README.md."
