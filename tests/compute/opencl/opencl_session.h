// The OpenCL calls that the cases need. A call that fails ends the program with a message.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

inline void must(cl_int status, const std::string& what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "%s: OpenCL error %d\n", what.c_str(), status);
  std::exit(1);
}

class OpenClSession {
 public:
  explicit OpenClSession(std::string folder) : folder_(std::move(folder)) {
    cl_platform_id platform{};
    must(clGetPlatformIDs(1, &platform, nullptr), "no platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "no device");
    cl_int status = 0;
    context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    must(status, "context");
    queue_ = clCreateCommandQueue(context_, device_, 0, &status);
    must(status, "queue");
  }
  OpenClSession(const OpenClSession&) = delete;
  OpenClSession& operator=(const OpenClSession&) = delete;
  ~OpenClSession() {
    for (cl_mem memory : memories_) clReleaseMemObject(memory);
    for (cl_kernel kernel : kernels_) clReleaseKernel(kernel);
    clReleaseCommandQueue(queue_);
    clReleaseContext(context_);
  }

  [[nodiscard]] std::string text(cl_device_info what) const {
    size_t bytes = 0;
    must(clGetDeviceInfo(device_, what, 0, nullptr, &bytes), "device information");
    std::string value(bytes, '\0');
    must(clGetDeviceInfo(device_, what, bytes, value.data(), nullptr), "device information");
    value.resize(value.find('\0'));
    return value;
  }
  [[nodiscard]] bool has(const std::string& extension) const {
    return text(CL_DEVICE_EXTENSIONS).find(extension) != std::string::npos;
  }

  // Creates the kernel `name` of kernels/<file>.cl.
  cl_kernel kernel(const std::string& file, const std::string& name, const std::string& options = "") {
    std::ifstream source(folder_ + "/" + file + ".cl");
    const std::string code{std::istreambuf_iterator<char>(source), {}};
    if (code.empty()) must(CL_INVALID_VALUE, "no kernel file " + file);
    const char* text = code.c_str();
    cl_int status = 0;
    cl_program program = clCreateProgramWithSource(context_, 1, &text, nullptr, &status);
    must(status, file);
    if (clBuildProgram(program, 1, &device_, options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
      std::vector<char> log(1 << 16);
      clGetProgramBuildInfo(program, device_, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr);
      std::fprintf(stderr, "%s\n", log.data());
      must(CL_BUILD_PROGRAM_FAILURE, file);
    }
    cl_kernel kernel = clCreateKernel(program, name.c_str(), &status);
    must(status, name);
    clReleaseProgram(program);
    return kernels_.emplace_back(kernel);
  }

  template <class T>
  cl_mem buffer(const std::vector<T>& content) {
    cl_int status = 0;
    cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, content.size() * sizeof(T),
                                   const_cast<T*>(content.data()), &status);
    must(status, "buffer");
    return memories_.emplace_back(memory);
  }
  cl_mem image(cl_image_format format, size_t width, size_t height, void* content) {
    cl_image_desc shape{};
    shape.image_type = CL_MEM_OBJECT_IMAGE2D;
    shape.image_width = width;
    shape.image_height = height;
    cl_int status = 0;
    cl_mem memory = clCreateImage(context_, CL_MEM_READ_WRITE | (content ? CL_MEM_COPY_HOST_PTR : cl_mem_flags{0}),
                                  &format, &shape, content, &status);
    must(status, "image");
    return memories_.emplace_back(memory);
  }
  template <class T>
  std::vector<T> read(cl_mem memory, size_t count) {
    std::vector<T> content(count);
    must(clEnqueueReadBuffer(queue_, memory, CL_TRUE, 0, count * sizeof(T), content.data(), 0, nullptr, nullptr),
         "read");
    return content;
  }
  template <class T>
  std::vector<T> read_image(cl_mem memory, size_t width, size_t height, size_t texel) {
    std::vector<T> content(width * height * texel / sizeof(T));
    const size_t origin[3] = {0, 0, 0}, region[3] = {width, height, 1};
    must(clEnqueueReadImage(queue_, memory, CL_TRUE, origin, region, 0, 0, content.data(), 0, nullptr, nullptr),
         "read");
    return content;
  }

  // Sets an argument in local memory, which has only a size.
  struct Local {
    size_t bytes;
  };
  template <class... Arguments>
  void arguments(cl_kernel kernel, const Arguments&... arguments) {
    cl_uint index = 0;
    (set(kernel, index++, arguments), ...);
  }
  template <class... Arguments>
  void run(cl_kernel kernel, std::vector<size_t> global, std::vector<size_t> local, std::vector<size_t> offset,
           const Arguments&... arguments) {
    this->arguments(kernel, arguments...);
    must(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(global.size()),
                                offset.empty() ? nullptr : offset.data(), global.data(),
                                local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
         "dispatch");
    must(clFinish(queue_), "wait");
  }

  // Submits a dispatch; `done` returns without waiting whether it has ended.
  void start(cl_kernel kernel, const std::vector<size_t>& global, const std::vector<size_t>& local) {
    must(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                                local.data(), 0, nullptr, &started_),
         "dispatch");
    must(clFlush(queue_), "flush");
  }
  bool done() {
    cl_int status = 0;
    must(clGetEventInfo(started_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr), "status");
    if (status > CL_COMPLETE) return false;
    must(status, "kernel");
    clReleaseEvent(started_);
    return true;
  }

 private:
  template <class T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    must(clSetKernelArg(kernel, index, sizeof value, &value), "argument");
  }
  static void set(cl_kernel kernel, cl_uint index, const Local& local) {
    must(clSetKernelArg(kernel, index, local.bytes, nullptr), "argument");
  }

  std::string folder_;
  cl_device_id device_{};
  cl_context context_{};
  cl_command_queue queue_{};
  cl_event started_{};
  std::vector<cl_kernel> kernels_;
  std::vector<cl_mem> memories_;
};
