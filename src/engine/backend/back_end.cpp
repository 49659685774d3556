#include "engine/backend/back_end.h"

#include <array>
#include <utility>

#include "engine/backend/blit_back_end.h"
#include "engine/backend/compute_back_end.h"
#include "engine/backend/draw_back_end.h"
#include "engine/backend/thread_observer.h"
#include "engine/engine.h"
#include "hw/header_bits.h"

namespace halogen::engine {
namespace {

constexpr unsigned kClients = 8;  // values of bits 31:29 of a header

class NoBackEnd final : public BackEnd {
 public:
  Next execute(Engine& engine, const Command& command) override {
    engine.unsupported(command.desc);
    return Next::advance();
  }
};

// The back end of the render client: state that both pipelines share, media and compute, and the 3D pipeline.
class RenderBackEnd final : public BackEnd {
 public:
  explicit RenderBackEnd(eu::KernelLibrary& library) : compute_(library), draw_(library) {}
  Next execute(Engine& engine, const Command& command) override {
    if (engine.state().render.change(engine.gen(), command.desc.id, command.dwords)) {
      return Next::advance();
    }
    return DrawBackEnd::takes(command) ? draw_.execute(engine, command) : compute_.execute(engine, command);
  }
  void reset() override { draw_.reset(); }
  void report(FidelityReport& report) const override {
    compute_.report(report);
    draw_.report(report);
  }
  ComputeBackEnd& compute() { return compute_; }

 private:
  ComputeBackEnd compute_;
  DrawBackEnd draw_;
};

class ClientBackEnds final : public BackEnd {
 public:
  ClientBackEnds() {
    for (unsigned client = 0; client < kClients; ++client) {
      if (client != hw::ClientHeader::blit && client != hw::ClientHeader::render) {
        clients_[client] = std::make_unique<NoBackEnd>();
      }
    }
  }

  Next execute(Engine& engine, const Command& command) override {
    const uint32_t client = hw::ClientHeader::kClient.of(command.dwords[0]);
    if (clients_[client] == nullptr) {
      start(engine, client);
    }
    return clients_[client]->execute(engine, command);
  }
  void flush() override {
    for (const std::unique_ptr<BackEnd>& client : clients_) {
      if (client != nullptr) {
        client->flush();
      }
    }
  }
  void reset() override {
    for (const std::unique_ptr<BackEnd>& client : clients_) {
      if (client != nullptr) {
        client->reset();
      }
    }
  }
  void report(FidelityReport& report) const override {
    for (const std::unique_ptr<BackEnd>& client : clients_) {
      if (client != nullptr) {
        client->report(report);
      }
    }
  }

  void set_observer(compute::Observer* observer) {
    observer_ = observer;
    if (compute_ != nullptr) {
      compute_->set_observer(observer);
    }
  }

 private:
  // Creates a large back end at its first command, because most engines never need it.
  void start(Engine& engine, unsigned client) {
    if (client == hw::ClientHeader::blit) {
      clients_[client] = std::make_unique<BlitBackEnd>();
      return;
    }
    auto render = std::make_unique<RenderBackEnd>(engine.services().kernels());
    compute_ = &render->compute();
    compute_->set_observer(observer_);
    clients_[client] = std::move(render);
  }

  std::array<std::unique_ptr<BackEnd>, kClients> clients_;
  ComputeBackEnd* compute_ = nullptr;  // points into clients_
  compute::Observer* observer_ = nullptr;
};

}  // namespace

// Makes the same kind of back end for every engine, because the command table decides which commands an engine has.
std::unique_ptr<BackEnd> make_back_end(const spec::EngineModel& /*engine*/) {
  return std::make_unique<ClientBackEnds>();
}

void observe_threads(Engine& engine, compute::Observer* observer) {
  if (auto* const clients = dynamic_cast<ClientBackEnds*>(&engine.back_end())) {
    clients->set_observer(observer);
  }
}

}  // namespace halogen::engine
