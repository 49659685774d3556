/* Draws pictures into dumb buffers and shows them with every call there is: mode set, page flip, atomic commit. Waits for
 * the events with poll(2) and read(2). Prints a word for each picture that was shown: its number. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xf86drm.h>
#include <xf86drmMode.h>

struct picture {
  uint32_t handle, pitch, fb;
  uint64_t size;
};

static int node, flips, blanks;

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

static int make(struct picture *p, uint32_t number, uint32_t width, uint32_t height) {
  struct drm_mode_create_dumb dumb = {.width = width, .height = height, .bpp = 32};
  if (drmIoctl(node, DRM_IOCTL_MODE_CREATE_DUMB, &dumb)) return fail("dumb buffer");
  struct drm_mode_map_dumb map = {.handle = dumb.handle};
  if (drmIoctl(node, DRM_IOCTL_MODE_MAP_DUMB, &map)) return fail("map");
  uint8_t *bytes = mmap(NULL, dumb.size, PROT_READ | PROT_WRITE, MAP_SHARED, node, (off_t)map.offset);
  if (bytes == MAP_FAILED) return fail("mmap");
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      uint32_t pixel = (x * 0x00010305u + y * 0x00071109u + number * 0x00357913u) & 0xffffffu;
      memcpy(bytes + y * dumb.pitch + x * 4, &pixel, 4);
    }
  }
  munmap(bytes, dumb.size);
  p->handle = dumb.handle;
  p->pitch = dumb.pitch;
  p->size = dumb.size;
  return drmModeAddFB(node, width, height, 24, 32, dumb.pitch, dumb.handle, &p->fb) ? fail("framebuffer") : 0;
}

static void on_flip(int fd, unsigned frame, unsigned s, unsigned us, void *data) {
  (void)fd, (void)frame, (void)s, (void)us;
  *(int *)data += 1;
}

static int wait_events(const int *count, int wanted) {
  drmEventContext context = {.version = 2, .vblank_handler = on_flip, .page_flip_handler = on_flip};
  while (*count < wanted) {
    struct pollfd one = {.fd = node, .events = POLLIN};
    char few[8]; /* an event that does not fit stays */
    if (poll(&one, 1, -1) != 1 || read(node, few, sizeof few) != 0) return fail("part of an event");
    if (drmHandleEvent(node, &context)) return fail("event");
  }
  return 0;
}

static uint32_t property(uint32_t object, uint32_t type, const char *name) {
  uint32_t id = 0;
  drmModeObjectProperties *all = drmModeObjectGetProperties(node, object, type);
  for (uint32_t i = 0; all && i < all->count_props; ++i) {
    drmModePropertyRes *one = drmModeGetProperty(node, all->props[i]);
    if (one && !strcmp(one->name, name)) id = one->prop_id;
    drmModeFreeProperty(one);
  }
  drmModeFreeObjectProperties(all);
  return id;
}

int main(void) {
  node = open("/dev/dri/card0", O_RDWR | O_CLOEXEC);
  if (node < 0) return fail("card0");
  drmModeRes *resources = drmModeGetResources(node);
  if (!resources || resources->count_connectors < 1 || resources->count_crtcs < 1) return fail("resources");
  uint32_t crtc = resources->crtcs[0];
  drmModeConnector *connector = drmModeGetConnector(node, resources->connectors[0]);
  if (!connector || connector->connection != DRM_MODE_CONNECTED) return fail("connector");
  drmModeModeInfo *mode = NULL;
  for (int i = 0; i < connector->count_modes; ++i) {
    if (connector->modes[i].hdisplay == 640) mode = &connector->modes[i];
  }
  if (!mode) return fail("mode");
  struct picture one, two;
  if (make(&one, 1, 640, 480) || make(&two, 2, 640, 480)) return 1;

  if (drmModeSetCrtc(node, crtc, one.fb, 0, 0, &connector->connector_id, 1, mode)) return fail("mode set");
  printf("1\n");
  if (drmModePageFlip(node, crtc, two.fb, DRM_MODE_PAGE_FLIP_EVENT, &flips)) return fail("flip");
  if (wait_events(&flips, 1)) return 1;
  printf("2\n");

  drmVBlank wait = {.request = {.type = DRM_VBLANK_RELATIVE, .sequence = 2}};
  if (drmWaitVBlank(node, &wait)) return fail("vertical blank");
  wait.request.type = DRM_VBLANK_RELATIVE | DRM_VBLANK_EVENT;
  wait.request.sequence = 1;
  wait.request.signal = (unsigned long)&blanks;
  if (drmWaitVBlank(node, &wait) || wait_events(&blanks, 1)) return fail("vertical blank event");

  if (drmSetClientCap(node, DRM_CLIENT_CAP_ATOMIC, 1) == 0) {
    drmModePlaneRes *planes = drmModeGetPlaneResources(node);
    uint32_t primary = 0;
    for (uint32_t i = 0; planes && i < planes->count_planes; ++i) {
      drmModePlane *plane = drmModeGetPlane(node, planes->planes[i]);
      if (plane && plane->fb_id == two.fb) primary = plane->plane_id;
      drmModeFreePlane(plane);
    }
    drmModeAtomicReq *request = drmModeAtomicAlloc();
    drmModeAtomicAddProperty(request, primary, property(primary, DRM_MODE_OBJECT_PLANE, "FB_ID"), one.fb);
    if (drmModeAtomicCommit(node, request, DRM_MODE_ATOMIC_TEST_ONLY, NULL)) return fail("atomic test");
    if (drmModeAtomicCommit(node, request, DRM_MODE_PAGE_FLIP_EVENT | DRM_MODE_ATOMIC_NONBLOCK, &flips)) {
      return fail("atomic");
    }
    if (wait_events(&flips, 2)) return 1;
    printf("1\n");
    drmModeAtomicFree(request);
    drmModeFreePlaneResources(planes);
  }
  if (drmModeSetCrtc(node, crtc, 0, 0, 0, NULL, 0, NULL)) return fail("off");
  drmModeFreeConnector(connector);
  drmModeFreeResources(resources);
  return 0;
}
