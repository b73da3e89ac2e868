// A CUDA device. Operands are from one allocation that is used again: allocating takes longer than the runs.
#include <map>
#include <vector>

#include "tests/property/machine_device.hpp"

namespace sptile::test {
namespace {

class Cuda : public CudaMachine {
 public:
  [[nodiscard]] bool has_graphs() const override { return true; }

  Status replay(std::span<const std::function<Status(void*)>> runs) override {
    struct Replay {
      cudaStream_t stream = nullptr;
      cudaGraph_t graph = nullptr;
      cudaGraphExec_t executable = nullptr;
    };
    std::vector<Replay> replays(runs.size());
    Status status;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      auto& [stream, graph, executable] = replays[i];
      require(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
      if (Status s = runs[i](stream); !s) status = s;
      require(cudaStreamEndCapture(stream, &graph));
      require(cudaGraphInstantiate(&executable, graph, 0));
    }
    for (int i = 0; i < 20 && status; ++i)
      for (const Replay& replay : replays) require(cudaGraphLaunch(replay.executable, replay.stream));
    require(cudaDeviceSynchronize());
    for (const Replay& replay : replays) {
      cudaGraphExecDestroy(replay.executable);
      cudaGraphDestroy(replay.graph);
      cudaStreamDestroy(replay.stream);
    }
    return status;
  }

  std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    const std::size_t whole = (bytes + kStep) / kStep * kStep;
    std::vector<std::shared_ptr<std::byte>>& kept = kept_[whole];
    for (const std::shared_ptr<std::byte>& memory : kept)
      if (memory.use_count() == 1) return memory;
    return kept.emplace_back(CudaMachine::allocate(whole));
  }

 private:
  static constexpr std::size_t kStep = std::size_t{1} << 16;
  std::map<std::size_t, std::vector<std::shared_ptr<std::byte>>> kept_;
};

}  // namespace

std::string_view device_backend() { return "cuda"; }

std::unique_ptr<Machine> make_device(bool exact, std::string& why_not) {
  const auto device = runtime::cuda::find_device(0);
  if (device && exact) return std::make_unique<CudaMachine>();
  if (device) return std::make_unique<Cuda>();
  why_not = device.error().message;
  return nullptr;
}

}  // namespace sptile::test
