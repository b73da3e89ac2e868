// Times launches on the current device: one after the other on the default stream, or captured in a CUDA
// graph.
#pragma once

#include <functional>
#include <vector>

#include "formats/core/error.hpp"
#include "runtime/cuda/device/device_buffer.hpp"

namespace sptile::tools::cuda {

/// Enqueues one run of what is timed.
using Launch = std::function<Status(cudaStream_t)>;

struct TimerOptions {
  std::size_t flush_bytes = 0;  ///< overwritten before each launch, to empty the L2 cache
  bool graph = false;           ///< launches are captured: what starting them costs the host does not count
};

/// Times with events on the device.
class LaunchTimer {
 public:
  static Result<LaunchTimer> make(const TimerOptions& options);
  LaunchTimer(LaunchTimer&& other) noexcept;
  LaunchTimer& operator=(LaunchTimer&&) = delete;
  ~LaunchTimer();

  /// Seconds of one launch, several times; how often by schedule_launches. `launches` gets how many were
  /// timed.
  Result<std::vector<double>> time(const Launch& launch, int& launches);

 private:
  LaunchTimer() = default;
  /// Enqueues launches on the timer's stream.
  using Enqueue = std::function<Status()>;
  Status run(const Launch& launch, int count) const;
  Result<Enqueue> enqueuing(const Launch& launch, int count) const;
  Result<double> microseconds(const Enqueue& enqueue, int count);

  runtime::cuda::DeviceBuffer flushed_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaStream_t stream_ = nullptr;  ///< null: the default stream, and no graphs
};

}  // namespace sptile::tools::cuda
