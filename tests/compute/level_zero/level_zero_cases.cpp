// Small programs on Intel's Level Zero driver: each case computes, compares with reference.h and prints one line.
// Kernels are those of ../opencl; Intel's OpenCL driver compiles them to native modules first. `--out DIR` keeps each
// result. Exit 0: all cases are right. usage: level_zero_cases KERNEL_FOLDER [--out DIR] [case...]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <level_zero/ze_api.h>

#include <numeric>
#include <sstream>

#include "../reference.h"
#include "../results.h"

namespace {

void check(int32_t result, const char* call) {
  if (result == 0) return;
  std::fprintf(stderr, "%s: error 0x%x\n", call, static_cast<unsigned>(result));
  std::exit(1);
}
#define ZE(call) check(static_cast<int32_t>(call), #call)

// Returns a native module of KERNEL_FOLDER/NAME.cl.
std::vector<uint8_t> compiled(const std::string& folder, const std::string& name) {
  std::ifstream file(folder + "/" + name + ".cl");
  std::stringstream text;
  text << file.rdbuf();
  const std::string source = text.str();
  cl_platform_id platform;
  cl_device_id device;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr), "clGetDeviceIDs");
  cl_int error = 0;
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  check(error, "clCreateContext");
  const char* words = source.c_str();
  cl_program program = clCreateProgramWithSource(context, 1, &words, nullptr, &error);
  check(error, "clCreateProgramWithSource");
  check(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "clBuildProgram");
  size_t size = 0;
  check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), "CL_PROGRAM_BINARY_SIZES");
  std::vector<uint8_t> module(size);
  uint8_t* place = module.data();
  check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof place, &place, nullptr), "CL_PROGRAM_BINARIES");
  clReleaseProgram(program);
  clReleaseContext(context);
  return module;
}

struct Local {
  size_t size;
};

// A device with a queue of one of its groups.
class Session {
 public:
  explicit Session(std::string folder) : folder_(std::move(folder)) {
    ZE(zeInit(ZE_INIT_FLAG_GPU_ONLY));
    uint32_t count = 1;
    ze_driver_handle_t driver = nullptr;
    ZE(zeDriverGet(&count, &driver));
    count = 1;
    ZE(zeDeviceGet(driver, &count, &device_));
    ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ZE(zeContextCreate(driver, &desc, &context_));
    count = 0;
    ZE(zeDeviceGetCommandQueueGroupProperties(device_, &count, nullptr));
    groups_.assign(count, {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES, nullptr, 0, 0, 0});
    ZE(zeDeviceGetCommandQueueGroupProperties(device_, &count, groups_.data()));
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    ZE(zeDeviceGetProperties(device_, &properties));
    std::printf("device: %s, %u groups of queues\n", properties.name, count);
  }

  // Returns the first group with these flags and without others, or the number of groups.
  uint32_t group(ze_command_queue_group_property_flags_t with, ze_command_queue_group_property_flags_t without) const {
    uint32_t i = 0;
    while (i < groups_.size() && ((groups_[i].flags & with) != with || (groups_[i].flags & without) != 0)) ++i;
    return i;
  }
  uint32_t groups() const { return static_cast<uint32_t>(groups_.size()); }

  template <class T>
  T* device(size_t count) {
    ze_device_mem_alloc_desc_t desc{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    void* memory = nullptr;
    ZE(zeMemAllocDevice(context_, &desc, count * sizeof(T), 64, device_, &memory));
    return static_cast<T*>(memory);
  }
  template <class T>
  T* shared(const std::vector<T>& values) {
    ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0, 0};
    ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void* memory = nullptr;
    ZE(zeMemAllocShared(context_, &on_device, &on_host, values.size() * sizeof(T), 64, device_, &memory));
    std::memcpy(memory, values.data(), values.size() * sizeof(T));
    return static_cast<T*>(memory);
  }

  ze_kernel_handle_t kernel(const std::string& name) {
    const std::vector<uint8_t> code = compiled(folder_, name);
    ze_module_desc_t desc{
        ZE_STRUCTURE_TYPE_MODULE_DESC, nullptr, ZE_MODULE_FORMAT_NATIVE, code.size(), code.data(), "", nullptr};
    ze_module_handle_t module = nullptr;
    ZE(zeModuleCreate(context_, device_, &desc, &module, nullptr));
    ze_kernel_desc_t which{ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name.c_str()};
    ze_kernel_handle_t made = nullptr;
    ZE(zeKernelCreate(module, &which, &made));
    return made;
  }
  template <class... A>
  void arguments(ze_kernel_handle_t kernel, const A&... all) {
    uint32_t index = 0;
    (set(kernel, index++, all), ...);
  }

  // Records commands and waits until a queue of the group has executed them.
  template <class F>
  void run(uint32_t group, F record) {
    ze_command_queue_desc_t queue_desc{};
    queue_desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    queue_desc.ordinal = group;
    ze_command_queue_handle_t queue = nullptr;
    ZE(zeCommandQueueCreate(context_, device_, &queue_desc, &queue));
    ze_command_list_desc_t list_desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, group, 0};
    ze_command_list_handle_t list = nullptr;
    ZE(zeCommandListCreate(context_, device_, &list_desc, &list));
    record(list);
    ZE(zeCommandListClose(list));
    ZE(zeCommandQueueExecuteCommandLists(queue, 1, &list, nullptr));
    ZE(zeCommandQueueSynchronize(queue, UINT64_MAX));
    ZE(zeCommandListDestroy(list));
    ZE(zeCommandQueueDestroy(queue));
  }

 private:
  template <class T>
  static void set(ze_kernel_handle_t kernel, uint32_t index, const T& value) {
    ZE(zeKernelSetArgumentValue(kernel, index, sizeof value, &value));
  }
  static void set(ze_kernel_handle_t kernel, uint32_t index, const Local& local) {
    ZE(zeKernelSetArgumentValue(kernel, index, local.size, nullptr));
  }

  std::string folder_;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
  std::vector<ze_command_queue_group_properties_t> groups_;
};

void barrier(ze_command_list_handle_t list) {
  ZE(zeCommandListAppendBarrier(list, nullptr, 0, nullptr));
}

// Copies through device memory and back on every group of queues.
bool copies(Session& session) {
  constexpr size_t kCount = 40000;
  Numbers numbers;
  std::vector<uint32_t> in(kCount);
  for (uint32_t& value : in) value = numbers.next();
  bool right = true;
  for (uint32_t group = 0; group < session.groups(); ++group) {
    uint32_t* there = session.device<uint32_t>(kCount);
    std::vector<uint32_t> out(kCount);
    session.run(group, [&](ze_command_list_handle_t list) {
      ZE(zeCommandListAppendMemoryCopy(list, there, in.data(), kCount * 4, nullptr, 0, nullptr));
      barrier(list);
      ZE(zeCommandListAppendMemoryCopy(list, out.data(), there, kCount * 4, nullptr, 0, nullptr));
    });
    right = same("copies", out, in) && right;
  }
  return right;
}

bool fill(Session& session, uint32_t group) {
  constexpr size_t kCount = 5000;
  const std::vector<uint32_t> wanted(kCount, 0x12345678);
  uint32_t* there = session.shared(std::vector<uint32_t>(kCount));
  session.run(group, [&](ze_command_list_handle_t list) {
    ZE(zeCommandListAppendMemoryFill(list, there, wanted.data(), 4, kCount * 4, nullptr, 0, nullptr));
  });
  return same("fill", std::vector<uint32_t>(there, there + kCount), wanted);
}

bool saxpy(Session& session, uint32_t group) {
  constexpr size_t kCount = 1000;
  const SaxpyCase given(kCount);
  float* x = session.shared(given.x);
  float* y = session.shared(given.y);
  ze_kernel_handle_t kernel = session.kernel("saxpy");
  ZE(zeKernelSetGroupSize(kernel, 100, 1, 1));
  session.arguments(kernel, given.s, x, y);
  const ze_group_count_t groups{kCount / 100, 1, 1};
  session.run(group, [&](ze_command_list_handle_t list) {
    ZE(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr));
  });
  return same("saxpy", std::vector<float>(y, y + kCount), given.wanted);
}

bool reduction(Session& session, uint32_t group) {
  constexpr size_t kCount = 4096, kGroup = 256;
  const ReductionCase given(kCount, kGroup);
  uint32_t* sums = session.device<uint32_t>(given.wanted.size());
  std::vector<uint32_t> out(given.wanted.size());
  ze_kernel_handle_t kernel = session.kernel("reduction");
  ZE(zeKernelSetGroupSize(kernel, kGroup, 1, 1));
  session.arguments(kernel, session.shared(given.in), sums, Local{kGroup * 4});
  const ze_group_count_t groups{kCount / kGroup, 1, 1};
  session.run(group, [&](ze_command_list_handle_t list) {
    ZE(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr));
    barrier(list);
    ZE(zeCommandListAppendMemoryCopy(list, out.data(), sums, out.size() * 4, nullptr, 0, nullptr));
  });
  return same("reduction", out, given.wanted);
}

bool matmul(Session& session, uint32_t group) {
  constexpr uint32_t kSide = 48;
  const MatmulCase given(kSide);
  float* result = session.shared(std::vector<float>(kSide * kSide));
  ze_kernel_handle_t kernel = session.kernel("matmul");
  ZE(zeKernelSetGroupSize(kernel, 16, 16, 1));
  session.arguments(kernel, static_cast<int>(kSide), session.shared(given.a), session.shared(given.b), result);
  const ze_group_count_t groups{kSide / 16, kSide / 16, 1};
  session.run(group, [&](ze_command_list_handle_t list) {
    ZE(zeCommandListAppendLaunchKernel(list, kernel, &groups, nullptr, 0, nullptr));
  });
  return same("matmul", std::vector<float>(result, result + size_t{kSide} * kSide), given.wanted);
}

}  // namespace

int main(int count, char** words) {
  const Arguments given = read_arguments(count, words, "level_zero_cases KERNEL_FOLDER");
  Session session(given.folder);
  const uint32_t compute = session.group(ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE, 0);
  const std::vector<Case> cases{
      {"copies", [&] { return copies(session); }},          {"fill", [&] { return fill(session, compute); }},
      {"saxpy", [&] { return saxpy(session, compute); }},   {"reduction", [&] { return reduction(session, compute); }},
      {"matmul", [&] { return matmul(session, compute); }},
  };
  return run_cases(given, cases);
}
