// The Vulkan calls that the compute cases need. A call that fails ends the program with a message. One job at a time:
// buffers and images in memory that the host sees, one descriptor set, one dispatch, one wait. Programs that draw also
// use this file (tests/programs/vk_scenes.cpp).
#pragma once

#include <vulkan/vulkan.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

inline void must(VkResult status, const std::string& what) {
  if (status == VK_SUCCESS) return;
  std::fprintf(stderr, "%s: Vulkan error %d\n", what.c_str(), status);
  std::exit(1);
}

class VulkanSession {
 public:
  struct Buffer {
    VkBuffer buffer{};
    VkDeviceMemory memory{};
    size_t bytes = 0;
  };
  struct Image {
    VkImage image{};
    VkDeviceMemory memory{};
    VkImageView view{};
    uint32_t side = 0;
  };

  explicit VulkanSession(std::string folder) : folder_(std::move(folder)) {
    const VkApplicationInfo application{.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
    const VkInstanceCreateInfo start{.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
    must(vkCreateInstance(&start, nullptr, &instance_), "no instance");
    uint32_t count = 1;
    vkEnumeratePhysicalDevices(instance_, &count, &physical_);
    if (count == 0) must(VK_ERROR_INITIALIZATION_FAILED, "no device");
    VkPhysicalDeviceMultiviewFeatures views{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MULTIVIEW_FEATURES};
    VkPhysicalDeviceFeatures2 have{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, .pNext = &views};
    vkGetPhysicalDeviceFeatures2(physical_, &have);
    wide_ = have.features.shaderFloat64;
    VkPhysicalDeviceFeatures features{};
    features.shaderFloat64 = have.features.shaderFloat64;
    features.shaderClipDistance = have.features.shaderClipDistance;
    views = {.sType = views.sType, .multiview = views.multiview};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue{.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                        .queueFamilyIndex = 0,
                                        .queueCount = 1,
                                        .pQueuePriorities = &priority};
    const VkDeviceCreateInfo device{.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                    .pNext = &views,
                                    .queueCreateInfoCount = 1,
                                    .pQueueCreateInfos = &queue,
                                    .pEnabledFeatures = &features};
    must(vkCreateDevice(physical_, &device, nullptr, &device_), "device");
    vkGetDeviceQueue(device_, 0, 0, &queue_);
    const VkCommandPoolCreateInfo pool{.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    must(vkCreateCommandPool(device_, &pool, nullptr, &pool_), "command pool");
    const std::array<VkDescriptorPoolSize, 2> sizes{
        {{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 4096}, {VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 64}}};
    const VkDescriptorPoolCreateInfo sets{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                          .maxSets = 1024,
                                          .poolSizeCount = 2,
                                          .pPoolSizes = sizes.data()};
    must(vkCreateDescriptorPool(device_, &sets, nullptr, &sets_), "descriptor pool");
  }
  VulkanSession(const VulkanSession&) = delete;
  VulkanSession& operator=(const VulkanSession&) = delete;
  ~VulkanSession() {
    vkDestroyDescriptorPool(device_, sets_, nullptr);
    vkDestroyCommandPool(device_, pool_, nullptr);
    vkDestroyDevice(device_, nullptr);
    vkDestroyInstance(instance_, nullptr);
  }

  [[nodiscard]] bool has_wide() const { return wide_; }
  [[nodiscard]] std::string name() const {
    VkPhysicalDeviceProperties properties{};
    vkGetPhysicalDeviceProperties(physical_, &properties);
    return properties.deviceName;
  }

  template <class T>
  Buffer buffer(const std::vector<T>& content) {
    Buffer made;
    made.bytes = content.size() * sizeof(T);
    const VkBufferCreateInfo shape{.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                   .size = made.bytes,
                                   .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                            VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                            VK_BUFFER_USAGE_VERTEX_BUFFER_BIT};
    must(vkCreateBuffer(device_, &shape, nullptr, &made.buffer), "buffer");
    VkMemoryRequirements needs{};
    vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
    made.memory = allocate(needs, true);
    must(vkBindBufferMemory(device_, made.buffer, made.memory, 0), "bind");
    void* place = nullptr;
    must(vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &place), "map");
    std::memcpy(place, content.data(), made.bytes);
    vkUnmapMemory(device_, made.memory);
    return made;
  }
  template <class T>
  std::vector<T> read(const Buffer& from) {
    std::vector<T> content(from.bytes / sizeof(T));
    void* place = nullptr;
    must(vkMapMemory(device_, from.memory, 0, VK_WHOLE_SIZE, 0, &place), "map");
    std::memcpy(content.data(), place, from.bytes);
    vkUnmapMemory(device_, from.memory);
    return content;
  }
  Image image(uint32_t side) {
    return picture(VK_FORMAT_R8G8B8A8_UINT, side, VK_IMAGE_USAGE_STORAGE_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                   VK_IMAGE_ASPECT_COLOR_BIT, VK_SAMPLE_COUNT_1_BIT);
  }
  Image picture(VkFormat format, uint32_t side, VkImageUsageFlags usage, VkImageAspectFlags aspect,
                VkSampleCountFlagBits samples, uint32_t layers = 1) {
    Image made;
    made.side = side;
    const VkImageCreateInfo shape{.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                  .imageType = VK_IMAGE_TYPE_2D,
                                  .format = format,
                                  .extent = {side, side, 1},
                                  .mipLevels = 1,
                                  .arrayLayers = layers,
                                  .samples = samples,
                                  .tiling = VK_IMAGE_TILING_OPTIMAL,
                                  .usage = usage};
    must(vkCreateImage(device_, &shape, nullptr, &made.image), "image");
    VkMemoryRequirements needs{};
    vkGetImageMemoryRequirements(device_, made.image, &needs);
    made.memory = allocate(needs, false);
    must(vkBindImageMemory(device_, made.image, made.memory, 0), "bind");
    const VkImageViewCreateInfo view{.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                     .image = made.image,
                                     .viewType = layers > 1 ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
                                     .format = format,
                                     .subresourceRange = {aspect, 0, 1, 0, layers}};
    must(vkCreateImageView(device_, &view, nullptr, &made.view), "view");
    return made;
  }

  struct Job {
    std::string shader;  // <shader>.spv
    std::vector<Buffer> buffers;
    std::vector<Image> images;  // bound after the buffers
    std::vector<uint32_t> constants;
    std::array<uint32_t, 3> groups{1, 1, 1};
    const Buffer* indirect = nullptr;  // three group counts in memory; null: `groups`
  };
  void run(const Job& job) {
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (uint32_t i = 0; i < job.buffers.size() + job.images.size(); ++i) {
      const bool is_buffer = i < job.buffers.size();
      bindings.push_back({i, is_buffer ? VK_DESCRIPTOR_TYPE_STORAGE_BUFFER : VK_DESCRIPTOR_TYPE_STORAGE_IMAGE, 1,
                          VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    }
    const VkDescriptorSetLayoutCreateInfo set_shape{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                    .bindingCount = static_cast<uint32_t>(bindings.size()),
                                                    .pBindings = bindings.data()};
    VkDescriptorSetLayout set_layout{};
    must(vkCreateDescriptorSetLayout(device_, &set_shape, nullptr, &set_layout), "set layout");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<uint32_t>(job.constants.size() * 4)};
    const VkPipelineLayoutCreateInfo shape{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                           .setLayoutCount = 1,
                                           .pSetLayouts = &set_layout,
                                           .pushConstantRangeCount = job.constants.empty() ? 0u : 1u,
                                           .pPushConstantRanges = &range};
    VkPipelineLayout layout{};
    must(vkCreatePipelineLayout(device_, &shape, nullptr, &layout), "layout");
    const VkShaderModule module = shader(job.shader);
    const VkComputePipelineCreateInfo make{.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                           .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                     .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                     .module = module,
                                                     .pName = "main"},
                                           .layout = layout};
    VkPipeline pipeline{};
    must(vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &make, nullptr, &pipeline), "pipeline " + job.shader);

    const VkDescriptorSetAllocateInfo want{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = sets_,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &set_layout};
    VkDescriptorSet set{};
    must(vkAllocateDescriptorSets(device_, &want, &set), "descriptor set");
    for (const VkDescriptorSetLayoutBinding& binding : bindings) {
      VkDescriptorBufferInfo buffer_info{};
      VkDescriptorImageInfo image_info{};
      if (binding.binding < job.buffers.size()) {
        buffer_info = {job.buffers[binding.binding].buffer, 0, VK_WHOLE_SIZE};
      } else {
        image_info = {VK_NULL_HANDLE, job.images[binding.binding - job.buffers.size()].view, VK_IMAGE_LAYOUT_GENERAL};
      }
      const VkWriteDescriptorSet write{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                       .dstSet = set,
                                       .dstBinding = binding.binding,
                                       .descriptorCount = 1,
                                       .descriptorType = binding.descriptorType,
                                       .pImageInfo = &image_info,
                                       .pBufferInfo = &buffer_info};
      vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
    }

    submit([&](VkCommandBuffer commands) {
      for (const Image& image : job.images) ready(commands, image);
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, layout, 0, 1, &set, 0, nullptr);
      if (!job.constants.empty()) {
        vkCmdPushConstants(commands, layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, range.size, job.constants.data());
      }
      if (job.indirect != nullptr) {
        vkCmdDispatchIndirect(commands, job.indirect->buffer, 0);
      } else {
        vkCmdDispatch(commands, job.groups[0], job.groups[1], job.groups[2]);
      }
    });
    vkDestroyPipeline(device_, pipeline, nullptr);
    vkDestroyShaderModule(device_, module, nullptr);
    vkDestroyPipelineLayout(device_, layout, nullptr);
    vkDestroyDescriptorSetLayout(device_, set_layout, nullptr);
  }

 protected:
  VkDeviceMemory allocate(const VkMemoryRequirements& needs, bool seen) {
    VkPhysicalDeviceMemoryProperties properties{};
    vkGetPhysicalDeviceMemoryProperties(physical_, &properties);
    const VkMemoryPropertyFlags flags =
        seen ? VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT : VkMemoryPropertyFlags{0};
    for (uint32_t type = 0; type < properties.memoryTypeCount; ++type) {
      if ((needs.memoryTypeBits >> type & 1) == 0 || (properties.memoryTypes[type].propertyFlags & flags) != flags) {
        continue;
      }
      const VkMemoryAllocateInfo want{
          .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size, .memoryTypeIndex = type};
      VkDeviceMemory memory{};
      must(vkAllocateMemory(device_, &want, nullptr, &memory), "memory");
      return memory;
    }
    must(VK_ERROR_OUT_OF_DEVICE_MEMORY, "no memory of a fitting kind");
    return {};
  }
  VkShaderModule shader(const std::string& name) {
    std::ifstream file(folder_ + "/" + name + ".spv", std::ios::binary);
    const std::string code{std::istreambuf_iterator<char>(file), {}};
    if (code.empty()) must(VK_ERROR_INITIALIZATION_FAILED, "no shader " + name);
    std::vector<uint32_t> words(code.size() / 4);
    std::memcpy(words.data(), code.data(), code.size());
    const VkShaderModuleCreateInfo make{
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = code.size(), .pCode = words.data()};
    VkShaderModule module{};
    must(vkCreateShaderModule(device_, &make, nullptr, &module), "shader " + name);
    return module;
  }
  // Moves an image to the GENERAL layout before its first use. It keeps that layout, so later calls do nothing.
  void ready(VkCommandBuffer commands, const Image& image) {
    if (!used_.insert(image.image).second) return;
    const VkImageMemoryBarrier barrier{.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                       .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
                                       .oldLayout = VK_IMAGE_LAYOUT_UNDEFINED,
                                       .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                       .image = image.image,
                                       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  }
  template <class Record>
  void submit(const Record& record) {
    const VkCommandBufferAllocateInfo want{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                           .commandPool = pool_,
                                           .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                           .commandBufferCount = 1};
    VkCommandBuffer commands{};
    must(vkAllocateCommandBuffers(device_, &want, &commands), "command buffer");
    const VkCommandBufferBeginInfo begin{.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    must(vkBeginCommandBuffer(commands, &begin), "begin");
    record(commands);
    const VkMemoryBarrier seen{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                               .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT,
                               .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0,
                         nullptr, 0, nullptr);
    must(vkEndCommandBuffer(commands), "end");
    const VkSubmitInfo job{
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = &commands};
    must(vkQueueSubmit(queue_, 1, &job, VK_NULL_HANDLE), "submit");
    must(vkQueueWaitIdle(queue_), "wait");
    vkFreeCommandBuffers(device_, pool_, 1, &commands);
  }

  std::string folder_;
  VkInstance instance_{};
  VkPhysicalDevice physical_{};
  VkDevice device_{};
  VkQueue queue_{};
  VkCommandPool pool_{};
  VkDescriptorPool sets_{};
  std::set<VkImage> used_;
  bool wide_ = false;
};
