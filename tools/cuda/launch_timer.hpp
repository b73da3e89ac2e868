// Times launches on the current device: consecutive on the default stream, or captured in a CUDA graph.
#pragma once

#include <functional>
#include <vector>

#include "formats/core/error.hpp"
#include "runtime/cuda/device/device_buffer.hpp"

namespace sptile::tools::cuda {

/// Enqueues one run.
using Launch = std::function<Status(cudaStream_t)>;

struct TimerOptions {
  std::size_t flush_bytes = 0;  ///< bytes written before each launch to flush L2
  bool graph = false;           ///< captures launches in a graph, so that their host overhead is not timed
};

/// Measures times with events on the device.
class LaunchTimer {
 public:
  static Result<LaunchTimer> make(const TimerOptions& options);
  LaunchTimer(LaunchTimer&& other) noexcept;
  LaunchTimer& operator=(LaunchTimer&&) = delete;
  ~LaunchTimer();

  /// Returns the seconds of a launch, several times, as chosen by schedule_launches. `launches` receives the
  /// number of timed launches.
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
  cudaStream_t stream_ = nullptr;  ///< null: the default stream, without graphs
};

}  // namespace sptile::tools::cuda
