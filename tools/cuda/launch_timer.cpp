#include "tools/cuda/launch_timer.hpp"

#include <algorithm>
#include <memory>
#include <type_traits>
#include <utility>

#include "runtime/cuda/device/check.hpp"
#include "tools/cuda/launch_schedule.hpp"

namespace sptile::tools::cuda {

using runtime::cuda::check;

namespace {

struct DestroyGraph {
  void operator()(cudaGraphExec_t graph) const { cudaGraphExecDestroy(graph); }
};
using Graph = std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, DestroyGraph>;

/// Captures the work of `enqueue` in a graph.
template <class Enqueue>
Result<Graph> capture(cudaStream_t stream, const Enqueue& enqueue) {
  Status s = check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing");
  if (!s) return tl::unexpected(s.error());
  s = enqueue();
  cudaGraph_t captured = nullptr;
  const Status ended = check(cudaStreamEndCapture(stream, &captured), "capturing");
  cudaGraphExec_t graph = nullptr;
  if (s) s = ended;
  if (s) s = check(cudaGraphInstantiate(&graph, captured, 0), "creating a graph");
  if (captured != nullptr) cudaGraphDestroy(captured);
  if (!s) return tl::unexpected(s.error());
  return Graph(graph);
}

}  // namespace

Result<LaunchTimer> LaunchTimer::make(const TimerOptions& options) {
  LaunchTimer timer;
  Status s = check(cudaEventCreate(&timer.begin_), "creating an event");
  if (s) s = check(cudaEventCreate(&timer.end_), "creating an event");
  if (s && options.graph)
    s = check(cudaStreamCreateWithFlags(&timer.stream_, cudaStreamNonBlocking), "creating a stream");
  if (!s) return tl::unexpected(s.error());
  auto memory =
      runtime::cuda::DeviceBuffer::allocate(options.flush_bytes, "memory to flush the L2 cache with");
  if (!memory) return tl::unexpected(memory.error());
  timer.flushed_ = std::move(*memory);
  return timer;
}

LaunchTimer::LaunchTimer(LaunchTimer&& other) noexcept
    : flushed_(std::move(other.flushed_)),
      begin_(std::exchange(other.begin_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      stream_(std::exchange(other.stream_, nullptr)) {}

LaunchTimer::~LaunchTimer() {
  if (begin_ != nullptr) cudaEventDestroy(begin_);
  if (end_ != nullptr) cudaEventDestroy(end_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

Status LaunchTimer::run(const Launch& launch, int count) const {
  Status s;
  for (int i = 0; i < count && s; ++i) s = launch(stream_);
  return s;
}

Result<LaunchTimer::Enqueue> LaunchTimer::enqueuing(const Launch& launch, int count) const {
  if (stream_ == nullptr) return [this, &launch, count] { return run(launch, count); };
  auto graph = capture(stream_, [&] { return run(launch, count); });
  if (!graph) return tl::unexpected(graph.error());
  return [stream = stream_, graph = std::shared_ptr(std::move(*graph))] {
    return check(cudaGraphLaunch(graph.get(), stream), "launching a graph");
  };
}

Result<double> LaunchTimer::microseconds(const Enqueue& enqueue, int count) {
  Status s;
  if (flushed_.size() > 0)
    s = check(cudaMemsetAsync(flushed_.data(), 0, flushed_.size(), stream_), "flushing");
  if (s) s = check(cudaEventRecord(begin_, stream_), "timing");
  if (s) s = enqueue();
  if (s) s = check(cudaEventRecord(end_, stream_), "timing");
  if (s) s = check(cudaEventSynchronize(end_), "running a kernel");
  float milliseconds = 0;
  if (s) s = check(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
  if (!s) return tl::unexpected(s.error());
  return 1e3 * static_cast<double>(milliseconds) / count;
}

Result<std::vector<double>> LaunchTimer::time(const Launch& launch, int& launches) {
  Status s = check(cudaDeviceSynchronize(), "waiting for operands");
  if (s) s = run(launch, 1);  // loads the code
  if (!s) return tl::unexpected(s.error());
  const Result<double> once = microseconds([&] { return run(launch, 1); }, 1);
  if (!once) return tl::unexpected(once.error());
  const LaunchSchedule schedule = schedule_launches(*once, flushed_.size() > 0);
  s = run(launch, std::max(schedule.warmup - 2, 0));
  if (!s) return tl::unexpected(s.error());
  const auto enqueue = enqueuing(launch, schedule.per_group);
  if (!enqueue) return tl::unexpected(enqueue.error());
  std::vector<double> seconds;
  // the first launch of a graph uploads it
  for (int i = stream_ != nullptr ? -1 : 0; i < schedule.groups; ++i) {
    const Result<double> us = microseconds(*enqueue, schedule.per_group);
    if (!us) return tl::unexpected(us.error());
    if (i >= 0) seconds.push_back(1e-6 * *us);
  }
  launches = schedule.groups * schedule.per_group;
  return seconds;
}

}  // namespace sptile::tools::cuda
