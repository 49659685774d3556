// An ordinary OpenCL program: b[i] = a[i] * 3 + i over 1024 integers. It knows nothing of Halogen. Exit status: 0 if b is
// right, 3 if it is wrong (a driver that only writes a trace computes nothing), 1 if a call fails.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>

enum { kCount = 1024, kWrong = 3 };

static const char* const kSource =
    "kernel void triple(global const int* a, global int* b) {"
    "  int i = get_global_id(0);"
    "  b[i] = a[i] * 3 + i;"
    "}";

static void must(cl_int status, const char* what) {
  if (status != CL_SUCCESS) {
    fprintf(stderr, "triple: %s failed with %d\n", what, status);
    _Exit(1);
  }
}

int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  cl_int status;
  must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
  char name[128];
  must(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL), "clGetDeviceInfo");
  printf("OpenCL device: %s\n", name);

  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  must(status, "clCreateContext");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  must(status, "clCreateCommandQueue");
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&kSource, NULL, &status);
  must(status, "clCreateProgramWithSource");
  must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
  cl_kernel kernel = clCreateKernel(program, "triple", &status);
  must(status, "clCreateKernel");

  static int a[kCount];
  static int b[kCount];
  for (int i = 0; i < kCount; i++) a[i] = i * 7;
  cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(a), a, &status);
  must(status, "clCreateBuffer");
  cl_mem out = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(b), NULL, &status);
  must(status, "clCreateBuffer");
  must(clSetKernelArg(kernel, 0, sizeof(in), &in), "clSetKernelArg");
  must(clSetKernelArg(kernel, 1, sizeof(out), &out), "clSetKernelArg");
  const size_t global = kCount;
  must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
  must(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, sizeof(b), b, 0, NULL, NULL), "clEnqueueReadBuffer");
  must(clFinish(queue), "clFinish");
  for (int i = 0; i < kCount; i++) {
    if (b[i] == a[i] * 3 + i) continue;
    printf("b[%d] is %d, not %d\n", i, b[i], a[i] * 3 + i);
    return kWrong;
  }
  printf("b is right\n");
  return 0;
}
