#include "tools/cuda/launch_timer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/cuda/device/check.hpp"
#include "tools/cuda/launch_schedule.hpp"

namespace sptile::tools::cuda {

using runtime::cuda::check;

Result<LaunchTimer> LaunchTimer::make(std::size_t flush_bytes) {
  LaunchTimer timer;
  Status s = check(cudaEventCreate(&timer.begin_), "making an event");
  if (s) s = check(cudaEventCreate(&timer.end_), "making an event");
  if (!s) return tl::unexpected(s.error());
  auto memory = runtime::cuda::DeviceBuffer::allocate(flush_bytes, "memory to flush the L2 cache with");
  if (!memory) return tl::unexpected(memory.error());
  timer.flushed_ = std::move(*memory);
  return timer;
}

LaunchTimer::LaunchTimer(LaunchTimer&& other) noexcept
    : flushed_(std::move(other.flushed_)),
      begin_(std::exchange(other.begin_, nullptr)),
      end_(std::exchange(other.end_, nullptr)) {}

LaunchTimer::~LaunchTimer() {
  if (begin_ != nullptr) cudaEventDestroy(begin_);
  if (end_ != nullptr) cudaEventDestroy(end_);
}

Status LaunchTimer::run(const Launch& launch, int count) {
  Status s;
  for (int i = 0; i < count && s; ++i) s = launch();
  return s;
}

Result<double> LaunchTimer::microseconds(const Launch& launch, int count) {
  Status s;
  if (flushed_.size() > 0) s = check(cudaMemsetAsync(flushed_.data(), 0, flushed_.size()), "flushing");
  if (s) s = check(cudaEventRecord(begin_), "timing");
  if (s) s = run(launch, count);
  if (s) s = check(cudaEventRecord(end_), "timing");
  if (s) s = check(cudaEventSynchronize(end_), "running a kernel");
  float milliseconds = 0;
  if (s) s = check(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
  if (!s) return tl::unexpected(s.error());
  return 1e3 * static_cast<double>(milliseconds) / count;
}

Result<std::vector<double>> LaunchTimer::time(const Launch& launch, int& launches) {
  Status s = run(launch, 1);  // loads the code
  if (!s) return tl::unexpected(s.error());
  const Result<double> once = microseconds(launch, 1);
  if (!once) return tl::unexpected(once.error());
  const LaunchSchedule schedule = schedule_launches(*once, flushed_.size() > 0);
  s = run(launch, std::max(schedule.warmup - 2, 0));
  std::vector<double> seconds;
  for (int i = 0; i < schedule.groups && s; ++i) {
    const Result<double> us = microseconds(launch, schedule.per_group);
    if (us)
      seconds.push_back(1e-6 * *us);
    else
      s = tl::unexpected(us.error());
  }
  if (!s) return tl::unexpected(s.error());
  launches = schedule.groups * schedule.per_group;
  return seconds;
}

}  // namespace sptile::tools::cuda
