// A libdrm program: finds the device, asks for its identity, and lets a batch store a dword.
// Prints the PCI id. Exit status 0: all checks passed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>

#include "store.h"

int main(void) {
  drmDevicePtr devices[4];
  const int count = drmGetDevices2(0, devices, 4);
  if (count != 1) return fprintf(stderr, "devices: %d\n", count), 1;
  if (devices[0]->bustype != DRM_BUS_PCI || devices[0]->deviceinfo.pci->vendor_id != 0x8086) {
    return fprintf(stderr, "not Intel's\n"), 1;
  }
  for (int i = 0; i < 2; ++i) {
    const int kind = i == 0 ? DRM_NODE_RENDER : DRM_NODE_PRIMARY;
    if ((devices[0]->available_nodes & 1 << kind) == 0) return fprintf(stderr, "no node %d\n", kind), 1;
    const int fd = open(devices[0]->nodes[kind], O_RDWR | O_CLOEXEC);
    if (fd < 0) return perror(devices[0]->nodes[kind]), 1;
    drmVersionPtr version = drmGetVersion(fd);
    if (version == NULL || strcmp(version->name, "i915") != 0) return fprintf(stderr, "no version\n"), 1;
    drmFreeVersion(version);
    if (drmGetNodeTypeFromFd(fd) != kind) return fprintf(stderr, "node type\n"), 1;
    char* const name = drmGetDeviceNameFromFd2(fd);
    if (name == NULL || strcmp(name, devices[0]->nodes[kind]) != 0) return fprintf(stderr, "name %s\n", name), 1;
    int id = 0;
    if (get_parameter(fd, I915_PARAM_CHIPSET_ID, &id) != 0) return perror("GETPARAM"), 1;
    if (id != devices[0]->deviceinfo.pci->device_id) return fprintf(stderr, "ids %x\n", id), 1;
    if (i == 0) printf("%04x\n", (unsigned)id);
    struct target target;
    if (make_target(fd, &target) != 0) return 1;
    if (store(fd, &target, 0x12345678) != 0) return 1;
    if (target.words[0] != 0x12345678) return fprintf(stderr, "stored %x\n", target.words[0]), 1;
    close(fd);
  }
  return 0;
}
