// Runs the steps of conversions on the current device; see Run in format_memory.hpp.
#pragma once

#include <memory>
#include <utility>

#include "runtime/cuda/convert/column_bits.hpp"
#include "runtime/cuda/convert/primitives.hpp"
#include "runtime/cuda/convert/team.hpp"
#include "runtime/cuda/convert/work_memory.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/current_device.hpp"
#include "runtime/cuda/device_format.hpp"

namespace sptile::runtime::cuda {

inline constexpr int kStepThreads = 256;

template <class Step>
__global__ void __launch_bounds__(kStepThreads) run_step(std::int64_t n, const Step step) {
  const std::int64_t i = std::int64_t{kStepThreads} * blockIdx.x + threadIdx.x;
  if (i < n) step(i);
}

template <class Step, int... phase>
__device__ __forceinline__ void run_phases(const Step& step, const BlockPlace& at,
                                           typename Step::Shared& shared,
                                           std::integer_sequence<int, phase...>) {
  ((step(Phase<phase>{}, at, shared), __syncthreads()), ...);
}

template <class Step>
__global__ void __launch_bounds__(Step::kThreads) run_block_step(const Step step) {
  __shared__ typename Step::Shared shared;
  BlockPlace at{blockIdx.x, 0, static_cast<int>(threadIdx.x)};
  for (const std::int64_t rounds = step.rounds(at.block); rounds > at.round; ++at.round)
    run_phases(step, at, shared, std::make_integer_sequence<int, Step::kPhases>{});
}

template <class Step>
__global__ void __launch_bounds__(Step::kThreads) run_team_step(const Step step) {
  __shared__ typename Step::Shared shared;
  step(blockIdx.x, DeviceTeam{shared.scratch}, shared);
}

/// A Run that enqueues all work on one stream.
class CudaRun {
 public:
  explicit CudaRun(cudaStream_t stream) : stream_(stream), work_(stream) {}

  template <class Step>
  void each(std::int64_t n, const Step& step) {
    if (!status_ || n <= 0) return;
    const auto blocks = static_cast<unsigned>((n + kStepThreads - 1) / kStepThreads);
    run_step<<<blocks, kStepThreads, 0, stream_>>>(n, step);
    note(cudaGetLastError());
  }
  template <class Step>
  void blocks(std::int64_t n, const Step& step) {
    if (!status_ || n <= 0) return;
    run_block_step<<<static_cast<unsigned>(n), Step::kThreads, 0, stream_>>>(step);
    note(cudaGetLastError());
  }
  template <class Step>
  void teams(std::int64_t n, const Step& step) {
    if (!status_ || n <= 0) return;
    run_team_step<<<static_cast<unsigned>(n), Step::kThreads, 0, stream_>>>(step);
    note(cudaGetLastError());
  }
  void sort(SortBuffers& buffers, std::int64_t n, int begin_bit, int end_bit) {
    if (n > 1 && end_bit > begin_bit)
      with_scratch([&](void* scratch, std::size_t& bytes) {
        return sort_pairs(scratch, bytes, buffers, n, begin_bit, end_bit, stream_);
      });
  }
  template <class T>
  void sum(T* x, std::int64_t n) {
    with_scratch(
        [&](void* scratch, std::size_t& bytes) { return exclusive_sum(scratch, bytes, x, n, stream_); });
  }
  void compose(RowMap* maps, std::int64_t n) {
    if (n > 0)
      with_scratch(
          [&](void* scratch, std::size_t& bytes) { return compose_maps(scratch, bytes, maps, n, stream_); });
  }
  void clear(void* x, std::size_t bytes) { set(x, 0, bytes); }
  void fill(void* x, std::size_t bytes) { set(x, 0xFF, bytes); }
  void copy(void* to, const void* from, std::size_t bytes) {
    if (status_ && bytes > 0) note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_));
  }
  template <class T>
  void upload(T* to, const T* host, std::int64_t n) {
    if (status_ && n > 0)
      note(cudaMemcpyAsync(to, host, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyHostToDevice,
                           stream_));
  }
  template <class T>
  void download(T* host, const T* x, std::int64_t n) {
    if (!status_ || n == 0) return;
    note(cudaMemcpyAsync(host, x, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost, stream_));
    wait();
  }
  Result<std::shared_ptr<std::byte>> allocate(std::size_t bytes, const char* what) {
    return work_.keep(bytes, what);
  }
  Result<std::shared_ptr<std::byte>> work(std::size_t bytes, const char* what) {
    return work_.allocate(bytes, what);
  }
  void wait() {
    if (status_) note(cudaStreamSynchronize(stream_));
  }
  [[nodiscard]] const Status& status() const { return status_; }
  Result<DeviceFormat> finish(DeviceFormat&& format) {
    wait();
    if (!status_) return tl::unexpected(status_.error());
    return std::move(format);
  }

 private:
  void note(cudaError_t code) {
    if (status_) status_ = check(code, "converting");
  }
  void set(void* x, int byte, std::size_t bytes) {
    if (status_ && bytes > 0) note(cudaMemsetAsync(x, byte, bytes, stream_));
  }
  template <class Call>
  void with_scratch(const Call& call) {
    std::size_t bytes = 0;
    if (status_) note(call(nullptr, bytes));
    if (!status_) return;
    const auto scratch = work(bytes > 0 ? bytes : 1, "converting");
    if (scratch)
      note(call(scratch->get(), bytes));
    else
      status_ = tl::unexpected(scratch.error());
  }

  cudaStream_t stream_;
  WorkMemory work_;
  Status status_;
};

/// Returns the result of call(run) on a device and a stream, after releasing the workspace.
template <class Call>
auto on_device(int ordinal, void* stream, const Call& call) -> decltype(call(std::declval<CudaRun&>())) {
  const CurrentDevice current(ordinal);
  if (Status s = current.status(); !s) return tl::unexpected(s.error());
  CudaRun run(static_cast<cudaStream_t>(stream));
  auto result = call(run);
  run.wait();
  return result;
}

}  // namespace sptile::runtime::cuda
