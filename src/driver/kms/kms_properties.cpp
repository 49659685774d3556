#include "driver/kms/kms_properties.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "driver/gem/foreign_call.h"
#include "driver/gem/user_memory.h"
#include "driver/kms/kms_calls.h"

namespace halogen::driver {
namespace {

struct Property {
  uint32_t id;
  const char* name;
  uint32_t flags;
  uint64_t values[2];  // a range, or the object type
  uint32_t value_count;
  std::span<const char* const> names;  // of an enumeration, starting at 0
};

constexpr const char* kPlaneTypes[] = {"Overlay", "Primary", "Cursor"};
constexpr const char* kDpms[] = {"On", "Standby", "Suspend", "Off"};
constexpr const char* kLinkStatus[] = {"Good", "Bad"};
constexpr uint64_t kMinimum32 = static_cast<uint64_t>(int64_t{INT32_MIN});
constexpr uint32_t kAtomic = DRM_MODE_PROP_ATOMIC;
constexpr uint32_t kFixed = DRM_MODE_PROP_IMMUTABLE;
constexpr uint32_t kRange = DRM_MODE_PROP_RANGE;
constexpr uint32_t kSigned = DRM_MODE_PROP_SIGNED_RANGE;
constexpr uint32_t kObject = DRM_MODE_PROP_OBJECT;

const Property kProperties[] = {
    {kPropertyType, "type", DRM_MODE_PROP_ENUM | kFixed, {}, 0, kPlaneTypes},
    {kPropertyFb, "FB_ID", kAtomic | kObject, {DRM_MODE_OBJECT_FB}, 1, {}},
    {kPropertyInFence, "IN_FENCE_FD", kAtomic | kSigned, {~uint64_t{0}, INT32_MAX}, 2, {}},
    {kPropertyCrtc, "CRTC_ID", kAtomic | kObject, {DRM_MODE_OBJECT_CRTC}, 1, {}},
    {kPropertyCrtcX, "CRTC_X", kAtomic | kSigned, {kMinimum32, INT32_MAX}, 2, {}},
    {kPropertyCrtcY, "CRTC_Y", kAtomic | kSigned, {kMinimum32, INT32_MAX}, 2, {}},
    {kPropertyCrtcW, "CRTC_W", kAtomic | kRange, {0, INT32_MAX}, 2, {}},
    {kPropertyCrtcH, "CRTC_H", kAtomic | kRange, {0, INT32_MAX}, 2, {}},
    {kPropertySrcX, "SRC_X", kAtomic | kRange, {0, UINT32_MAX}, 2, {}},
    {kPropertySrcY, "SRC_Y", kAtomic | kRange, {0, UINT32_MAX}, 2, {}},
    {kPropertySrcW, "SRC_W", kAtomic | kRange, {0, UINT32_MAX}, 2, {}},
    {kPropertySrcH, "SRC_H", kAtomic | kRange, {0, UINT32_MAX}, 2, {}},
    {kPropertyActive, "ACTIVE", kAtomic | kRange, {0, 1}, 2, {}},
    {kPropertyMode, "MODE_ID", kAtomic | DRM_MODE_PROP_BLOB, {}, 0, {}},
    {kPropertyOutFence, "OUT_FENCE_PTR", kAtomic | kRange, {0, UINT64_MAX}, 2, {}},
    {kPropertyEdid, "EDID", DRM_MODE_PROP_BLOB | kFixed, {}, 0, {}},
    {kPropertyDpms, "DPMS", DRM_MODE_PROP_ENUM, {}, 0, kDpms},
    {kPropertyLinkStatus, "link-status", DRM_MODE_PROP_ENUM, {}, 0, kLinkStatus},
    {kPropertyNonDesktop, "non-desktop", kRange | kFixed, {0, 1}, 2, {}},
};

constexpr uint32_t kConnectorProperties[] = {kPropertyEdid, kPropertyDpms, kPropertyLinkStatus, kPropertyNonDesktop,
                                             kPropertyCrtc};
constexpr uint32_t kCrtcProperties[] = {kPropertyActive, kPropertyMode, kPropertyOutFence};
constexpr uint32_t kPlaneProperties[] = {kPropertyType,  kPropertyFb,    kPropertyInFence, kPropertyCrtc,
                                         kPropertyCrtcX, kPropertyCrtcY, kPropertyCrtcW,   kPropertyCrtcH,
                                         kPropertySrcX,  kPropertySrcY,  kPropertySrcW,    kPropertySrcH};

// Plane properties that are a plain number of its state.
struct PlaneNumber {
  uint32_t property;
  uint32_t PlaneState::*number;
};
constexpr PlaneNumber kPlaneNumbers[] = {
    {kPropertyCrtcW, &PlaneState::w},    {kPropertyCrtcH, &PlaneState::h},    {kPropertySrcX, &PlaneState::src_x},
    {kPropertySrcY, &PlaneState::src_y}, {kPropertySrcW, &PlaneState::src_w}, {kPropertySrcH, &PlaneState::src_h},
};
struct PlanePlace {
  uint32_t property;
  int32_t PlaneState::*place;
};
constexpr PlanePlace kPlanePlaces[] = {{kPropertyCrtcX, &PlaneState::x}, {kPropertyCrtcY, &PlaneState::y}};

const Property* find_property(uint32_t id) {
  for (const Property& each : kProperties) {
    if (each.id == id) return &each;
  }
  return nullptr;
}

std::span<const uint32_t> properties_of(uint32_t object) {
  switch (object) {
    case kConnectorId:
      return kConnectorProperties;
    case kCrtcId:
      return kCrtcProperties;
    case kPrimaryId:
    case kCursorId:
      return kPlaneProperties;
    default:
      return {};
  }
}

uint32_t type_of(const Kms& kms, uint32_t object) {
  switch (object) {
    case kConnectorId:
      return DRM_MODE_OBJECT_CONNECTOR;
    case kCrtcId:
      return DRM_MODE_OBJECT_CRTC;
    case kEncoderId:
      return DRM_MODE_OBJECT_ENCODER;
    case kPrimaryId:
    case kCursorId:
      return DRM_MODE_OBJECT_PLANE;
    default:
      if (kms.find_fb(object)) return DRM_MODE_OBJECT_FB;
      if (kms.find_blob(object)) return DRM_MODE_OBJECT_BLOB;
      return find_property(object) != nullptr ? DRM_MODE_OBJECT_PROPERTY : 0;
  }
}

uint64_t value_of(const KmsState& state, uint32_t object, uint32_t property) {
  const PlaneState& plane = object == kCursorId ? state.cursor : state.primary;
  for (const PlaneNumber& each : kPlaneNumbers) {
    if (each.property == property) return plane.*each.number;
  }
  for (const PlanePlace& each : kPlanePlaces) {
    if (each.property == property) return static_cast<uint64_t>(int64_t{plane.*each.place});
  }
  switch (property) {
    case kPropertyType:
      return object == kCursorId ? 2 : 1;
    case kPropertyFb:
      return plane.fb ? plane.fb->id : 0;
    case kPropertyInFence:
      return ~uint64_t{0};
    case kPropertyCrtc:
      return (object == kConnectorId ? state.connected : plane.on_crtc) ? uint32_t{kCrtcId} : 0;
    case kPropertyActive:
      return state.active ? 1 : 0;
    case kPropertyMode:
      return state.mode ? state.mode->id : 0;
    case kPropertyDpms:
      return state.connected && !state.active ? DRM_MODE_DPMS_OFF : DRM_MODE_DPMS_ON;
    default:
      return 0;
  }
}

// Performs the checks of DRM's core, which are the same for all properties.
int check_value(Kms& kms, const Property& property, uint64_t value) {
  if ((property.flags & kFixed) != 0) return -EINVAL;
  if ((property.flags & kRange) != 0) {
    return value < property.values[0] || value > property.values[1] ? -EINVAL : 0;
  }
  if ((property.flags & DRM_MODE_PROP_EXTENDED_TYPE) == kSigned) {
    const auto number = static_cast<int64_t>(value);
    return number < static_cast<int64_t>(property.values[0]) || number > static_cast<int64_t>(property.values[1])
               ? -EINVAL
               : 0;
  }
  if ((property.flags & DRM_MODE_PROP_ENUM) != 0) return value >= property.names.size() ? -EINVAL : 0;
  if ((property.flags & DRM_MODE_PROP_BLOB) != 0) {
    return value == 0 || (value <= UINT32_MAX && kms.find_blob(static_cast<uint32_t>(value))) ? 0 : -EINVAL;
  }
  if ((property.flags & DRM_MODE_PROP_EXTENDED_TYPE) == kObject) {
    if (value == 0) return 0;
    return value <= UINT32_MAX && type_of(kms, static_cast<uint32_t>(value)) == property.values[0] ? 0 : -EINVAL;
  }
  return 0;
}

int set_mode(Call& call, AtomicChange& change, uint64_t value) {
  Kms& kms = call.driver.kms();
  if (value == 0) {
    change.state.mode = nullptr;
    return 0;
  }
  const BlobRef blob = kms.find_blob(static_cast<uint32_t>(value));
  if (blob->bytes.size() != sizeof(drm_mode_modeinfo)) return -EINVAL;
  KmsState probe;
  probe.mode = blob;
  const int result = check_mode(kms, probe.timing());
  if (result == 0) change.state.mode = blob;
  return result;
}

int set_in_fence(Call& call, PlaneState& plane, uint64_t value) {
  const auto descriptor = static_cast<int>(static_cast<int64_t>(value));
  if (descriptor < 0) return 0;
  if (plane.fence) return -EINVAL;
  const std::optional<SyncFile> file = call.driver.sync_files().find(descriptor_of_program(descriptor));
  if (!file) return -EINVAL;
  plane.fence = file->fence;
  return 0;
}

int set_plane_property(Call& call, PlaneState& plane, uint32_t property, uint64_t value) {
  const auto small = static_cast<uint32_t>(value);
  for (const PlaneNumber& each : kPlaneNumbers) {
    if (each.property != property) continue;
    plane.*each.number = small;
    return 0;
  }
  for (const PlanePlace& each : kPlanePlaces) {
    if (each.property != property) continue;
    plane.*each.place = static_cast<int32_t>(small);
    return 0;
  }
  switch (property) {
    case kPropertyFb:
      plane.fb = small == 0 ? nullptr : call.driver.kms().find_fb(small);
      return 0;
    case kPropertyInFence:
      return set_in_fence(call, plane, value);
    case kPropertyCrtc:
      plane.on_crtc = value != 0;
      return 0;
    default:
      return -EINVAL;
  }
}

}  // namespace

PropertyList list_properties(Kms& kms, uint32_t object, bool atomic) {
  PropertyList list;
  for (const uint32_t id : properties_of(object)) {
    if (!atomic && (find_property(id)->flags & kAtomic) != 0) continue;
    list.ids.push_back(id);
    list.values.push_back(value_of(kms.state(), object, id));
  }
  return list;
}

bool has_object(const Kms& kms, uint32_t object, uint32_t type) {
  const uint32_t own = type_of(kms, object);
  return own != 0 && (type == DRM_MODE_OBJECT_ANY || type == own);
}

bool has_property(uint32_t object, uint32_t property) {
  const std::span<const uint32_t> all = properties_of(object);
  return std::find(all.begin(), all.end(), property) != all.end();
}

int set_property(Call& call, AtomicChange& change, uint32_t object, uint32_t property, uint64_t value) {
  Kms& kms = call.driver.kms();
  if (type_of(kms, object) == 0) return -ENOENT;
  if (!has_property(object, property)) return -ENOENT;
  if (const int result = check_value(kms, *find_property(property), value); result != 0) return result;
  if (object == kConnectorId) {
    if (property == kPropertyLinkStatus) return 0;
    if (property != kPropertyCrtc) return -EINVAL;  // DPMS has its own call
    change.state.connected = value != 0;
    change.crtc = true;
    return 0;
  }
  if (object == kCrtcId) {
    change.crtc = true;
    switch (property) {
      case kPropertyActive:
        change.state.active = value != 0;
        return 0;
      case kPropertyMode:
        return set_mode(call, change, value);
      default:
        change.out_fence = value;
        if (value == 0) return 0;
        const int32_t none = -1;
        return write_user(value, &none, sizeof none) ? 0 : -EFAULT;
    }
  }
  PlaneState& plane = object == kCursorId ? change.state.cursor : change.state.primary;
  change.crtc = change.crtc || plane.on_crtc;
  const int result = set_plane_property(call, plane, property, value);
  change.crtc = change.crtc || plane.on_crtc;
  return result;
}

// ---- calls

int get_properties(Call& call, drm_mode_obj_get_properties& properties) {
  Kms& kms = call.driver.kms();
  if (!has_object(kms, properties.obj_id, properties.obj_type)) return -ENOENT;
  if (properties_of(properties.obj_id).empty()) return -EINVAL;
  const PropertyList list = list_properties(kms, properties.obj_id, call.file.atomic);
  const size_t room = std::min<size_t>(properties.count_props, list.ids.size());
  properties.count_props = static_cast<uint32_t>(list.ids.size());
  if (room == 0) return 0;
  const bool given = write_user(properties.props_ptr, list.ids.data(), room * 4) &&
                     write_user(properties.prop_values_ptr, list.values.data(), room * 8);
  return given ? 0 : -EFAULT;
}

int get_property(Call&, drm_mode_get_property& property) {
  const Property* const found = find_property(property.prop_id);
  if (found == nullptr) return -ENOENT;
  std::memset(property.name, 0, sizeof property.name);
  std::strncpy(property.name, found->name, sizeof property.name - 1);
  property.flags = found->flags;
  uint64_t values[8] = {found->values[0], found->values[1]};
  uint32_t count = found->value_count;
  for (const char* const name : found->names) {
    static_cast<void>(name);
    values[count] = count;
    ++count;
  }
  const uint32_t room = std::min(property.count_values, count);
  property.count_values = count;
  if (room != 0 && !write_user(property.values_ptr, values, room * sizeof values[0])) return -EFAULT;
  if (found->names.empty()) {
    if ((found->flags & DRM_MODE_PROP_BLOB) != 0) property.count_enum_blobs = 0;
    return 0;
  }
  const size_t enum_room = std::min<size_t>(property.count_enum_blobs, found->names.size());
  property.count_enum_blobs = static_cast<uint32_t>(found->names.size());
  for (size_t i = 0; i < enum_room; ++i) {
    drm_mode_property_enum each{};
    each.value = i;
    std::strncpy(each.name, found->names[i], sizeof each.name - 1);
    if (!write_user(property.enum_blob_ptr + i * sizeof each, &each, sizeof each)) return -EFAULT;
  }
  return 0;
}

int get_blob(Call& call, drm_mode_get_blob& blob) {
  const BlobRef found = call.driver.kms().find_blob(blob.blob_id);
  if (!found) return -ENOENT;
  if (blob.length == found->bytes.size() && !write_user(blob.data, found->bytes.data(), found->bytes.size())) {
    return -EFAULT;
  }
  blob.length = static_cast<uint32_t>(found->bytes.size());
  return 0;
}

int create_blob(Call& call, drm_mode_create_blob& blob) {
  constexpr uint32_t kLongest = 1 << 20;
  if (blob.length == 0) return -EINVAL;
  if (blob.length > kLongest) return -ENOMEM;
  if (!call.driver.kms().may_add_blob(call.file, blob.length)) return -ENOMEM;
  auto bytes = read_user_array<std::byte>(blob.data, blob.length);
  if (!bytes) return -EFAULT;
  blob.blob_id = call.driver.kms().add_blob(&call.file, std::move(*bytes))->id;
  return 0;
}

int destroy_blob(Call& call, drm_mode_destroy_blob& blob) {
  return call.driver.kms().remove_blob(call.file, blob.blob_id);
}

}  // namespace halogen::driver
