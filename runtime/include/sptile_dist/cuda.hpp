// Operands in CUDA device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/exchange.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {
namespace detail {

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess)
    throw Exception(SPTILE_STATUS_DEVICE, std::string(call) + ": " + cudaGetErrorString(code));
}

inline cudaStream_t stream_of(void* stream) { return static_cast<cudaStream_t>(stream); }

/// An array in device memory or in pinned host memory.
template <class T, bool pinned>
class CudaArray {
 public:
  CudaArray() = default;
  explicit CudaArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* data = nullptr;
    if constexpr (pinned)
      check(cudaMallocHost(&data, size * sizeof(T)), "cudaMallocHost");
    else
      check(cudaMalloc(&data, size * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(data);
  }
  CudaArray(CudaArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  CudaArray& operator=(CudaArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~CudaArray() {
    if constexpr (pinned)
      cudaFreeHost(data_);
    else
      cudaFree(data_);
  }

  [[nodiscard]] T* data() { return data_; }
  [[nodiscard]] const T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Gives up the memory without freeing it.
  void leak() { data_ = nullptr; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An event that orders streams.
class CudaEvent {
 public:
  CudaEvent() {
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  ~CudaEvent() { cudaEventDestroy(event_); }

  void record(void* stream) { check(cudaEventRecord(event_, stream_of(stream)), "cudaEventRecord"); }
  /// Makes later work on the stream wait for the event.
  void holds(void* stream) const {
    check(cudaStreamWaitEvent(stream_of(stream), event_, 0), "cudaStreamWaitEvent");
  }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// A stream of the highest priority, because other processes wait for its results. It does not synchronize
/// with the default stream.
class CudaStream {
 public:
  CudaStream() {
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
          "cudaStreamCreateWithPriority");
  }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream() { cudaStreamDestroy(stream_); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Polls a condition: without a pause at first, then every 50 us.
class Pause {
 public:
  void operator()() {
    if (++looks_ < 1000)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

 private:
  int looks_ = 0;
};

/// Waits until the event has completed or the time is over; returns whether it has completed. Calls `look`
/// meanwhile, which throws if the event cannot complete.
template <class Look>
bool completes(void* event, double seconds, const Look& look) {
  const Deadline deadline(seconds);
  for (Pause pause;; pause()) {
    const cudaError_t happened = cudaEventQuery(static_cast<cudaEvent_t>(event));
    if (happened == cudaSuccess) return true;
    if (happened != cudaErrorNotReady) check(happened, "cudaEventQuery");
    cudaGetLastError();  // clears the status, which is not an error
    look();
    if (deadline.over()) return false;
  }
}

/// Work captured in a CUDA graph.
class CudaGraph {
 public:
  /// Captures work(stream) without running it.
  template <class Work>
  explicit CudaGraph(const Work& work) {
    const CudaStream stream;
    // Threads of NCCL call functions that a capture of all threads would refuse.
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      work(stream.get());
    } catch (...) {
      if (cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess) cudaGraphDestroy(graph);
      cudaGetLastError();  // clears the status of the ended capture
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph), "cudaStreamEndCapture");
    // Kernels of the exchange keep the priority of their stream.
    const cudaError_t code =
        cudaGraphInstantiateWithFlags(&work_, graph, cudaGraphInstantiateFlagUseNodePriority);
    cudaGraphDestroy(graph);
    check(code, "cudaGraphInstantiateWithFlags");
  }
  CudaGraph(CudaGraph&& other) noexcept : work_(std::exchange(other.work_, nullptr)) {}
  CudaGraph& operator=(CudaGraph&& other) noexcept {
    std::swap(work_, other.work_);
    return *this;
  }
  ~CudaGraph() {
    if (work_ != nullptr) cudaGraphExecDestroy(work_);
  }

  void launch(void* stream) const { check(cudaGraphLaunch(work_, stream_of(stream)), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t work_ = nullptr;
};

/// Gathers the rows of this process that others need, as products with a selection matrix S with a single 1
/// in each row. S b copies rows exactly, except for the sign of a zero, and S^T adds in the order of senders.
/// M: see CudaMemory.
template <class T, class M>
class SelectedRows {
 public:
  SelectedRows(M& memory, const Part& part, std::int64_t n, bool added) : memory_(memory) {
    const std::span<const std::int32_t> rows = part.send_rows();
    if (rows.empty()) return;
    std::vector<std::int64_t> one_each(rows.size() + 1);
    std::iota(one_each.begin(), one_each.end(), 0);
    Matrix selection({std::ssize(rows), part.owned(), one_each, rows}, {.copy = true});
    const bool wide = sizeof(T) == sizeof(double);
    PlanOptions options{.n = n,
                        .format = "csr",
                        .dense = wide ? Type::f64 : Type::f32,
                        .attributes = {{"precision", wide ? Precision::kernel_default : Precision::fp32}}};
    gather_ = selection.plan("spmm", memory.place(options));
    if (!added) return;
    options.transpose = true;
    options.kernel = M::adds_in_order;
    add_ = selection.plan("spmm", memory.place(options));
  }

  void gather(const T* b, T* to, void* stream) const { run(gather_, b, to, 0, stream); }
  void add(const T* from, T* c, void* stream) const { run(add_, from, c, 1, stream); }

 private:
  void run(const std::optional<Plan>& plan, const T* b, T* c, double beta, void* stream) const {
    if (plan) memory_.run(*plan, {.dense = {{{b, 0, 0}, {c, 0, 0}}}, .beta = beta}, stream);
  }

  M& memory_;
  std::optional<Plan> gather_, add_;
};

}  // namespace detail

/// Operands in the memory of the CUDA device that is current at construction. A run is enqueued on the
/// caller's stream; rows are gathered and exchanged on a second stream during the local product:
///
///   caller's stream   ... | ready   local product ......... wait | halo product | idle
///   side stream            wait | gather, exchange | arrived
class CudaMemory {
 public:
  template <class T>
  using Buffer = detail::CudaArray<T, false>;
  template <class T>
  using SentRows = detail::SelectedRows<T, CudaMemory>;
  using Graph = detail::CudaGraph;

  /// Kernel that adds the entries of a row in order.
  static constexpr const char* adds_in_order = "cuda.csr.rows";

  CudaMemory() { detail::check(cudaGetDevice(&ordinal_), "cudaGetDevice"); }

  [[nodiscard]] PlanOptions place(PlanOptions options) const {
    options.device = Device::cuda;
    options.ordinal = ordinal_;
    return options;
  }
  static void run(const Plan& plan, const Operands& operands, void* stream) { plan.run(operands, stream); }
  template <class T>
  static void clear(std::span<T> c, void* stream) {
    if (!c.empty())
      detail::check(cudaMemsetAsync(c.data(), 0, c.size_bytes(), detail::stream_of(stream)),
                    "cudaMemsetAsync");
  }

  /// Starts a run after the previous one, on any stream.
  void begin(void* stream) { idle_.holds(stream); }
  /// Returns the side stream, ordered after the present work of `stream`.
  void* fork(void* stream) {
    ready_.record(stream);
    ready_.holds(side_.get());
    return side_.get();
  }
  /// Makes `stream` wait for the copies on the side stream.
  void meet(void* stream) {
    arrived_.record(side_.get());
    arrived_.holds(stream);
  }
  void end(void* stream) { idle_.record(stream); }
  template <class E>
  void wait(E& exchange) {
    exchange.wait(idle_.get());
  }

 private:
  int ordinal_ = 0;
  detail::CudaStream side_;
  detail::CudaEvent ready_, arrived_, idle_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
