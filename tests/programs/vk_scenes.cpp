// Vulkan scenes without a window, 256 x 256 pixels of RGBA8: a triangle, a textured cube with depth (as vkcube shows),
// layers that are blended, the cube with four samples per pixel, and four views of a cube that one draw makes
// (multiview). The program does not judge the pictures. usage: vk_scenes SHADER_FOLDER OUT_FOLDER [scene...]   writes
// OUT_FOLDER/SCENE.rgba
#include <bit>
#include <cmath>
#include <numbers>

#include "../compute/vulkan/vulkan_session.h"

namespace {

constexpr uint32_t kSide = 256;
constexpr uint32_t kTexels = 64;
constexpr VkFormat kColour = VK_FORMAT_R8G8B8A8_UNORM;
constexpr VkFormat kDepth = VK_FORMAT_D32_SFLOAT;

struct Corner {
  float place[3];
  float tint[4];
  float at[2];
};
using Matrix = std::array<float, 16>;  // columns

struct Scene {
  std::string vertex = "plain";
  std::string fragment = "plain";
  std::vector<Corner> corners;
  Matrix turn{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  bool blended = false;
  VkSampleCountFlagBits samples = VK_SAMPLE_COUNT_1_BIT;
  uint32_t views = 0;    // mask; zero: no multiview. Each view is drawn to a quarter of the picture.
  uint32_t quarter = 0;  // of the first view
  bool apart = false;    // a draw for each view

  uint32_t layers() const { return views == 0 ? 1 : static_cast<uint32_t>(std::bit_width(views)); }
  uint32_t side() const { return views == 0 ? kSide : kSide / 2; }
};

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix product{};
  for (size_t column = 0; column < 4; ++column) {
    for (size_t row = 0; row < 4; ++row) {
      for (size_t k = 0; k < 4; ++k) product[column * 4 + row] += a[k * 4 + row] * b[column * 4 + k];
    }
  }
  return product;
}

Matrix turned(size_t axis, float angle) {
  Matrix matrix{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  const size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
  matrix[a * 4 + a] = matrix[b * 4 + b] = std::cos(angle);
  matrix[a * 4 + b] = std::sin(angle);
  matrix[b * 4 + a] = -std::sin(angle);
  return matrix;
}

// Returns a projection along z from `distance`, with a field of view of 45 degrees and depths from 1 to 10.
Matrix seen_from(float distance) {
  const float focus = 1 / std::tan(std::numbers::pi_v<float> / 8);
  const Matrix view{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, distance, 1};
  const Matrix lens{focus, 0, 0, 0, 0, focus, 0, 0, 0, 0, 10.0f / 9, 1, 0, 0, -10.0f / 9, 0};
  return lens * view;
}

std::vector<Corner> cube() {
  std::vector<Corner> corners;
  for (size_t face = 0; face < 6; ++face) {
    const size_t axis = face / 2, a = (axis + 1) % 3, b = (axis + 2) % 3;
    const float side = face % 2 == 0 ? -1.0f : 1.0f;
    constexpr std::array<std::array<float, 2>, 6> kSquare{{{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}}};
    for (const auto& [u, v] : kSquare) {
      Corner corner{};
      corner.place[axis] = side;
      corner.place[a] = 2 * u - 1;
      corner.place[b] = 2 * v - 1;
      for (size_t c = 0; c < 3; ++c) corner.tint[c] = c == axis ? 1.0f : 0.55f + 0.1f * static_cast<float>(face % 4);
      corner.tint[3] = 1;
      corner.at[0] = u;
      corner.at[1] = v;
      corners.push_back(corner);
    }
  }
  return corners;
}

Scene scene_of(const std::string& name) {
  Scene scene;
  if (name == "triangle") {
    scene.corners = {{{-0.5f, -0.5f, 0.5f}, {1, 0, 0, 1}, {}},
                     {{0.5f, -0.5f, 0.5f}, {0, 1, 0, 1}, {}},
                     {{0, 0.5f, 0.5f}, {0, 0, 1, 1}, {}}};
  } else if (name == "layers") {
    scene.blended = true;
    for (size_t i = 0; i < 12; ++i) {
      const auto step = static_cast<float>(i);
      const float x = std::cos(step) * 0.4f, y = std::sin(step) * 0.4f;
      const std::array<float, 3> tint{step / 12, 1 - step / 12, std::fmod(step * 0.3f, 1.0f)};
      constexpr std::array<std::array<float, 2>, 3> kShape{{{-0.5f, -0.4f}, {0.5f, -0.45f}, {0.1f, 0.5f}}};
      for (const auto& [u, v] : kShape) {
        scene.corners.push_back({{x + u, y + v, 0.9f - step / 24}, {tint[0], tint[1], tint[2], 0.35f}, {u, v}});
      }
    }
  } else if (name == "cube" || name == "smooth_cube") {
    scene.fragment = "textured";
    scene.corners = cube();
    scene.turn = seen_from(4.5f) * turned(0, 0.5f) * turned(1, 0.7f);
    scene.samples = name == "cube" ? VK_SAMPLE_COUNT_1_BIT : VK_SAMPLE_COUNT_4_BIT;
  } else if (name == "views" || name == "views_apart") {
    scene.vertex = scene.fragment = "views";
    scene.corners = cube();
    scene.turn = seen_from(4.5f) * turned(0, 0.5f) * turned(1, 0.7f);
    scene.views = 0b101101;  // layers 1 and 4 belong to no view
    scene.apart = name == "views_apart";
  } else {
    std::fprintf(stderr, "no scene %s\n", name.c_str());
    std::exit(2);
  }
  return scene;
}

class Painter : public VulkanSession {
 public:
  explicit Painter(const std::string& folder) : VulkanSession(folder) {
    texture_ = picture(kColour, kTexels, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT,
                       VK_IMAGE_ASPECT_COLOR_BIT, VK_SAMPLE_COUNT_1_BIT);
    std::vector<uint8_t> texels(size_t{kTexels} * kTexels * 4);
    for (uint32_t i = 0; i < kTexels * kTexels; ++i) {
      const uint32_t x = i % kTexels, y = i / kTexels;
      const bool dark = ((x / 8) ^ (y / 8)) % 2 != 0;
      texels[i * 4] = static_cast<uint8_t>(dark ? x * 4 : 255);
      texels[i * 4 + 1] = static_cast<uint8_t>(dark ? y * 4 : 220);
      texels[i * 4 + 2] = dark ? 90 : 200;
      texels[i * 4 + 3] = 255;
    }
    const Buffer source = buffer(texels);
    submit([&](VkCommandBuffer commands) {
      move(commands, texture_.image, VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 0,
           VK_ACCESS_TRANSFER_WRITE_BIT);
      const VkBufferImageCopy copy{.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                                   .imageExtent = {kTexels, kTexels, 1}};
      vkCmdCopyBufferToImage(commands, source.buffer, texture_.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 1, &copy);
      move(commands, texture_.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL,
           VK_ACCESS_TRANSFER_WRITE_BIT, VK_ACCESS_SHADER_READ_BIT);
    });
    const VkSamplerCreateInfo how{
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO, .magFilter = VK_FILTER_LINEAR, .minFilter = VK_FILTER_LINEAR};
    must(vkCreateSampler(device_, &how, nullptr, &sampler_), "sampler");
    const VkDescriptorSetLayoutBinding binding{0, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1,
                                               VK_SHADER_STAGE_FRAGMENT_BIT, nullptr};
    const VkDescriptorSetLayoutCreateInfo shape{
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO, .bindingCount = 1, .pBindings = &binding};
    must(vkCreateDescriptorSetLayout(device_, &shape, nullptr, &set_layout_), "set layout");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
    const VkDescriptorPoolCreateInfo pool{
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, .maxSets = 1, .poolSizeCount = 1, .pPoolSizes = &size};
    VkDescriptorPool textures{};
    must(vkCreateDescriptorPool(device_, &pool, nullptr, &textures), "descriptor pool");
    const VkDescriptorSetAllocateInfo want{.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                           .descriptorPool = textures,
                                           .descriptorSetCount = 1,
                                           .pSetLayouts = &set_layout_};
    must(vkAllocateDescriptorSets(device_, &want, &set_), "descriptor set");
    const VkDescriptorImageInfo info{sampler_, texture_.view, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL};
    const VkWriteDescriptorSet write{.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                     .dstSet = set_,
                                     .descriptorCount = 1,
                                     .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                     .pImageInfo = &info};
    vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
    const VkPushConstantRange range{VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(Matrix)};
    const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                            .setLayoutCount = 1,
                                            .pSetLayouts = &set_layout_,
                                            .pushConstantRangeCount = 1,
                                            .pPushConstantRanges = &range};
    must(vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "layout");
  }

  std::vector<uint8_t> paint(const Scene& scene) {
    const bool many = scene.samples != VK_SAMPLE_COUNT_1_BIT;
    const uint32_t side = scene.side();
    const Image colour = picture(kColour, side, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                                 VK_IMAGE_ASPECT_COLOR_BIT, scene.samples, scene.layers());
    const Image depth = picture(kDepth, side, VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT, VK_IMAGE_ASPECT_DEPTH_BIT,
                                scene.samples, scene.layers());
    const Image single =
        many ? picture(kColour, side, VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT,
                       VK_IMAGE_ASPECT_COLOR_BIT, VK_SAMPLE_COUNT_1_BIT)
             : colour;
    const VkRenderPass pass = make_pass(scene.samples, scene.views);
    const std::array<VkImageView, 3> views{colour.view, depth.view, single.view};
    const VkFramebufferCreateInfo frame{.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                        .renderPass = pass,
                                        .attachmentCount = many ? 3u : 2u,
                                        .pAttachments = views.data(),
                                        .width = side,
                                        .height = side,
                                        .layers = 1};
    VkFramebuffer target{};
    must(vkCreateFramebuffer(device_, &frame, nullptr, &target), "frame buffer");
    const VkPipeline pipeline = make_pipeline(scene, pass);
    const Buffer corners = buffer(scene.corners);
    const Buffer result = buffer(std::vector<uint8_t>(size_t{kSide} * kSide * 4));
    submit([&](VkCommandBuffer commands) {
      const std::array<VkClearValue, 2> clear{
          {{.color = {.float32 = {0.2f, 0.2f, 0.25f, 1}}}, {.depthStencil = {1, 0}}}};
      const VkRenderPassBeginInfo begin{.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = pass,
                                        .framebuffer = target,
                                        .renderArea = {{0, 0}, {side, side}},
                                        .clearValueCount = 2,
                                        .pClearValues = clear.data()};
      vkCmdBeginRenderPass(commands, &begin, VK_SUBPASS_CONTENTS_INLINE);
      vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
      vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, layout_, 0, 1, &set_, 0, nullptr);
      vkCmdPushConstants(commands, layout_, VK_SHADER_STAGE_VERTEX_BIT, 0, sizeof(Matrix), scene.turn.data());
      const VkDeviceSize start = 0;
      vkCmdBindVertexBuffers(commands, 0, 1, &corners.buffer, &start);
      vkCmdDraw(commands, static_cast<uint32_t>(scene.corners.size()), 1, 0, 0);
      vkCmdEndRenderPass(commands);
      std::vector<VkBufferImageCopy> copies;
      for (uint32_t layer = 0; layer < scene.layers(); ++layer) {
        if (scene.views != 0 && (scene.views >> layer & 1) == 0) continue;
        const size_t quarter = scene.quarter + copies.size();
        const VkDeviceSize x = quarter % 2 * side, y = quarter / 2 * side;
        copies.push_back({.bufferOffset = (y * kSide + x) * 4,
                          .bufferRowLength = kSide,
                          .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, layer, 1},
                          .imageExtent = {side, side, 1}});
      }
      vkCmdCopyImageToBuffer(commands, single.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL, result.buffer,
                             static_cast<uint32_t>(copies.size()), copies.data());
      const VkMemoryBarrier seen{.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                 .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                 .dstAccessMask = VK_ACCESS_HOST_READ_BIT};
      vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0,
                           nullptr, 0, nullptr);
    });
    return read<uint8_t>(result);
  }

  std::vector<uint8_t> paint_apart(const Scene& scene) {
    std::vector<uint8_t> all(size_t{kSide} * kSide * 4);
    Scene one = scene;
    for (uint32_t view = 0; view < scene.layers(); ++view) {
      one.views = scene.views & 1u << view;
      if (one.views == 0) continue;
      const std::vector<uint8_t> quarter = paint(one);
      for (size_t i = 0; i < all.size(); ++i) all[i] |= quarter[i];
      ++one.quarter;
    }
    return all;
  }

 private:
  static void move(VkCommandBuffer commands, VkImage image, VkImageLayout from, VkImageLayout to, VkAccessFlags before,
                   VkAccessFlags after) {
    const VkImageMemoryBarrier barrier{.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                       .srcAccessMask = before,
                                       .dstAccessMask = after,
                                       .oldLayout = from,
                                       .newLayout = to,
                                       .image = image,
                                       .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  }

  VkRenderPass make_pass(VkSampleCountFlagBits samples, uint32_t views) {
    const bool many = samples != VK_SAMPLE_COUNT_1_BIT;
    const VkAttachmentDescription colour{
        .format = kColour,
        .samples = samples,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .finalLayout = many ? VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL : VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL};
    const VkAttachmentDescription depth{.format = kDepth,
                                        .samples = samples,
                                        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                        .finalLayout = VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    VkAttachmentDescription single = colour;
    single.samples = VK_SAMPLE_COUNT_1_BIT;
    single.loadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE;
    single.finalLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL;
    const std::array<VkAttachmentDescription, 3> attachments{colour, depth, single};
    const VkAttachmentReference colour_at{0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference depth_at{1, VK_IMAGE_LAYOUT_DEPTH_STENCIL_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference single_at{2, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription work{.pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
                                    .colorAttachmentCount = 1,
                                    .pColorAttachments = &colour_at,
                                    .pResolveAttachments = many ? &single_at : nullptr,
                                    .pDepthStencilAttachment = &depth_at};
    const VkSubpassDependency then{.srcSubpass = 0,
                                   .dstSubpass = VK_SUBPASS_EXTERNAL,
                                   .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
                                   .dstStageMask = VK_PIPELINE_STAGE_TRANSFER_BIT,
                                   .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
                                   .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT};
    const VkRenderPassMultiviewCreateInfo multiview{
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_MULTIVIEW_CREATE_INFO, .subpassCount = 1, .pViewMasks = &views};
    const VkRenderPassCreateInfo make{.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                      .pNext = views != 0 ? &multiview : nullptr,
                                      .attachmentCount = many ? 3u : 2u,
                                      .pAttachments = attachments.data(),
                                      .subpassCount = 1,
                                      .pSubpasses = &work,
                                      .dependencyCount = 1,
                                      .pDependencies = &then};
    VkRenderPass pass{};
    must(vkCreateRenderPass(device_, &make, nullptr, &pass), "render pass");
    return pass;
  }

  VkPipeline make_pipeline(const Scene& scene, VkRenderPass pass) {
    const std::array<VkPipelineShaderStageCreateInfo, 2> stages{
        {{.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_VERTEX_BIT,
          .module = shader(scene.vertex + ".vert"),
          .pName = "main"},
         {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
          .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
          .module = shader(scene.fragment + ".frag"),
          .pName = "main"}}};
    const VkVertexInputBindingDescription stride{0, sizeof(Corner), VK_VERTEX_INPUT_RATE_VERTEX};
    const std::array<VkVertexInputAttributeDescription, 3> parts{
        {{0, 0, VK_FORMAT_R32G32B32_SFLOAT, offsetof(Corner, place)},
         {1, 0, VK_FORMAT_R32G32B32A32_SFLOAT, offsetof(Corner, tint)},
         {2, 0, VK_FORMAT_R32G32_SFLOAT, offsetof(Corner, at)}}};
    const VkPipelineVertexInputStateCreateInfo input{.sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
                                                     .vertexBindingDescriptionCount = 1,
                                                     .pVertexBindingDescriptions = &stride,
                                                     .vertexAttributeDescriptionCount = 3,
                                                     .pVertexAttributeDescriptions = parts.data()};
    const VkPipelineInputAssemblyStateCreateInfo assembly{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const uint32_t side = scene.side();
    const VkViewport viewport{0, 0, static_cast<float>(side), static_cast<float>(side), 0, 1};
    const VkRect2D scissor{{0, 0}, {side, side}};
    const VkPipelineViewportStateCreateInfo window{.sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
                                                   .viewportCount = 1,
                                                   .pViewports = &viewport,
                                                   .scissorCount = 1,
                                                   .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo raster{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo samples{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO, .rasterizationSamples = scene.samples};
    const VkPipelineDepthStencilStateCreateInfo depth{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = VK_TRUE,
        .depthWriteEnable = VK_TRUE,
        .depthCompareOp = VK_COMPARE_OP_LESS_OR_EQUAL};
    const VkPipelineColorBlendAttachmentState mix{.blendEnable = scene.blended,
                                                  .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
                                                  .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                                                  .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
                                                  .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
                                                  .colorWriteMask = 15};
    const VkPipelineColorBlendStateCreateInfo blend{
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO, .attachmentCount = 1, .pAttachments = &mix};
    const VkGraphicsPipelineCreateInfo make{.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                            .stageCount = 2,
                                            .pStages = stages.data(),
                                            .pVertexInputState = &input,
                                            .pInputAssemblyState = &assembly,
                                            .pViewportState = &window,
                                            .pRasterizationState = &raster,
                                            .pMultisampleState = &samples,
                                            .pDepthStencilState = &depth,
                                            .pColorBlendState = &blend,
                                            .layout = layout_,
                                            .renderPass = pass};
    VkPipeline pipeline{};
    must(vkCreateGraphicsPipelines(device_, VK_NULL_HANDLE, 1, &make, nullptr, &pipeline), "pipeline");
    return pipeline;
  }

  Image texture_;
  VkSampler sampler_{};
  VkDescriptorSetLayout set_layout_{};
  VkDescriptorSet set_{};
  VkPipelineLayout layout_{};
};

}  // namespace

int main(int count, char** words) {
  if (count < 3) {
    std::fprintf(stderr, "usage: vk_scenes SHADER_FOLDER OUT_FOLDER [scene...]\n");
    return 2;
  }
  std::vector<std::string> scenes(words + 3, words + count);
  if (scenes.empty()) scenes = {"triangle", "cube", "layers", "smooth_cube", "views", "views_apart"};
  Painter painter(words[1]);
  std::printf("device: %s\n", painter.name().c_str());
  for (const std::string& name : scenes) {
    const Scene scene = scene_of(name);
    const std::vector<uint8_t> pixels = scene.apart ? painter.paint_apart(scene) : painter.paint(scene);
    std::ofstream(std::string(words[2]) + "/" + name + ".rgba", std::ios::binary)
        .write(reinterpret_cast<const char*>(pixels.data()), static_cast<std::streamsize>(pixels.size()));
    std::printf("%s\n", name.c_str());
  }
}
