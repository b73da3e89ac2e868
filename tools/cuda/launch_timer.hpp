// Times launches on the default stream of the current device.
#pragma once

#include <functional>
#include <vector>

#include "formats/error.hpp"
#include "runtime/cuda/device/device_buffer.hpp"

namespace sptile::tools::cuda {

/// Enqueues one run of what is timed.
using Launch = std::function<Status()>;

/// Times with events on the device.
class LaunchTimer {
 public:
  /// `flush_bytes` of memory are overwritten before each launch, to empty the L2 cache; 0: no flushing.
  static Result<LaunchTimer> make(std::size_t flush_bytes);
  LaunchTimer(LaunchTimer&& other) noexcept;
  LaunchTimer& operator=(LaunchTimer&&) = delete;
  ~LaunchTimer();

  /// Seconds of one launch, several times; how often by schedule_launches. `launches` gets how many were
  /// timed.
  Result<std::vector<double>> time(const Launch& launch, int& launches);

 private:
  LaunchTimer() = default;
  Status run(const Launch& launch, int count);
  Result<double> microseconds(const Launch& launch, int count);

  runtime::cuda::DeviceBuffer flushed_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace sptile::tools::cuda
