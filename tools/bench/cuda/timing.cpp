#include "tools/bench/cuda/timing.hpp"

#include <algorithm>
#include <array>

namespace sptile::bench {
namespace {

class Events {
 public:
  Events() {
    require(cudaEventCreate(&begin_), "making an event");
    require(cudaEventCreate(&end_), "making an event");
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// Microseconds for `count` launches.
  double time(const std::function<void()>& launch, int count) {
    require(cudaEventRecord(begin_), "timing");
    for (int i = 0; i < count; ++i) launch();
    require(cudaEventRecord(end_), "timing");
    require(cudaEventSynchronize(end_), "running");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace

double time_launches(const std::function<void()>& launch) {
  Events events;
  events.time(launch, 1);
  const double once = events.time(launch, 1);
  const int warmup = once > 20e3 ? 0 : once > 6e3 ? 1 : 9, group = once > 20e3 ? 1 : once > 6e3 ? 2 : 10;
  if (warmup > 0) events.time(launch, warmup);
  std::array<double, 5> groups{};
  for (double& us : groups) us = events.time(launch, group) / group;
  std::sort(groups.begin(), groups.end());
  return groups[2];
}

double copy_bandwidth() {
  const std::size_t bytes = std::size_t{2} << 30;
  const DeviceMemory from(bytes), to(bytes);
  require(cudaMemset(from.get(), 1, bytes), "filling");
  const double us = time_launches(
      [&] { require(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice), "copying"); });
  return 2e6 * static_cast<double>(bytes) / us;
}

}  // namespace sptile::bench
