// Builds a file of OpenCL kernels and runs each on the same 1024 items of random and special bits.
// usage: run_kernels SOURCE OUT   writes one line per kernel: its name and the 64-bit result of every item
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kItems = 1024, kMaxKernels = 512 };

static const uint32_t kSpecial[] = {
    0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc01234, 1,          0x80000001,
    0x007fffff, 0x00800000, 0x7f7fffff, 0xffffffff, 0x7fffffff, 0x8000,     0x7fff,     0xff,       0x80,
    0x4f000000, 0xcf000000, 0x4f7fffff, 0x4b800001, 0x3f000000, 0x3effffff, 0x40200000, 0xc0200000, 0x33800000,
    0x387fc000, 0x477fe000, 0x477ff000, 0x7ff00000, 0x3ff00000, 0x43e00000, 0xc3e00000, 0x41dfffff};

static uint32_t inputs[kItems * 4];
static uint64_t outputs[kItems * 8];

static void must(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  fprintf(stderr, "%s: OpenCL error %d\n", what, status);
  exit(1);
}

static void fill_inputs(void) {
  uint64_t state = 88172645463325252u;
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; ++i) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const int special = (state >> 5) % 3 != 0;
    inputs[i] = special ? kSpecial[(state >> 20) % (sizeof kSpecial / sizeof kSpecial[0])] : (uint32_t)(state >> 32);
  }
}

static char* read_all(const char* path) {
  static char text[1 << 20];
  FILE* const file = fopen(path, "r");
  if (file == NULL) return fprintf(stderr, "%s cannot be read\n", path), exit(2), NULL;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

int main(int count, char** words) {
  if (count != 3) return fprintf(stderr, "usage: run_kernels SOURCE OUT\n"), 2;
  fill_inputs();
  cl_platform_id platform;
  cl_device_id device;
  cl_int status = 0;
  must(clGetPlatformIDs(1, &platform, NULL), "no platform");
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "no device");
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
  must(status, "context");
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  must(status, "queue");
  const char* const source = read_all(words[1]);
  cl_program program = clCreateProgramWithSource(context, 1, (const char**)&source, NULL, &status);
  must(status, "program");
  status = clBuildProgram(program, 1, &device, "", NULL, NULL);
  if (status != CL_SUCCESS) {
    static char log[1 << 16];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    return fprintf(stderr, "%s\n", log), 1;
  }
  cl_kernel kernels[kMaxKernels];
  cl_uint made = 0;
  must(clCreateKernelsInProgram(program, kMaxKernels, kernels, &made), "kernels");
  FILE* const out = fopen(words[2], "w");
  if (out == NULL) return fprintf(stderr, "%s cannot be written\n", words[2]), 2;
  for (cl_uint i = 0; i < made; ++i) {
    char name[128];
    must(clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL), "name");
    memset(outputs, 0, sizeof outputs);
    cl_mem in = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof inputs, inputs, &status);
    must(status, "buffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof outputs, outputs, &status);
    must(status, "buffer");
    must(clSetKernelArg(kernels[i], 0, sizeof to, &to), "argument");
    must(clSetKernelArg(kernels[i], 1, sizeof in, &in), "argument");
    const size_t items = kItems, group = 64;
    must(clEnqueueNDRangeKernel(queue, kernels[i], 1, NULL, &items, &group, 0, NULL, NULL), name);
    must(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof outputs, outputs, 0, NULL, NULL), name);
    fprintf(out, "%s", name);
    for (size_t k = 0; k < kItems; ++k) fprintf(out, " %llx", (unsigned long long)outputs[k]);
    fputc('\n', out);
    clReleaseMemObject(in);
    clReleaseMemObject(to);
  }
  fclose(out);
  return 0;
}
