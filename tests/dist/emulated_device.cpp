#include "tests/dist/emulated_device.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

using sptile::test::Work;

/// Work in the order of its capture.
struct CUgraph_st {
  std::vector<Work> work;
};
struct CUgraphExec_st : CUgraph_st {};

/// A capture in progress. `joined` has, for each stream other than the origin, the number of its captured
/// operations that the origin has waited for.
struct Capture : CUgraph_st {
  cudaStream_t origin = nullptr;
  std::map<cudaStream_t, std::size_t> joined;
  bool ended = false;
};

struct CUstream_st {
  std::deque<Work> queue;
  const void* device = nullptr;
  std::shared_ptr<Capture> capture;
  std::size_t captured = 0;  // operations
};

struct CUevent_st {
  struct Times {
    int recorded = 0, happened = 0;
  };
  std::shared_ptr<Times> times = std::make_shared<Times>();
  std::shared_ptr<Capture> capture;  // that contains the last record
  cudaStream_t stream = nullptr;     // of that record, with this number of operations before it
  std::size_t captured = 0;
};

namespace {

/// All streams of all devices.
class Scheduler {
 public:
  void seed(unsigned number) {
    const std::lock_guard lock(mutex_);
    random_.seed(number);
  }

  void add(cudaStream_t stream) {
    const std::lock_guard lock(mutex_);
    streams_.push_back(stream);
  }

  void remove(cudaStream_t stream) {
    until([&] { return stream->queue.empty(); });
    const std::lock_guard lock(mutex_);
    streams_.erase(std::find(streams_.begin(), streams_.end(), stream));
  }

  void put(cudaStream_t stream, Work work) {
    look([&] { stream->queue.push_back(std::move(work)); });
  }

  void look(const std::function<void()>& at) {
    const std::lock_guard lock(mutex_);
    at();
    for (auto steps = random_() % 4; steps > 0 && step(); --steps) {
    }
    changed_.notify_all();
  }

  /// Works until `done` holds.
  void until(const std::function<bool()>& done) {
    std::unique_lock lock(mutex_);
    while (!done())
      if (step())
        changed_.notify_all();
      else
        changed_.wait_for(lock, std::chrono::milliseconds(1));
  }

  /// Until a device has nothing left to do.
  void drain(const void* device) {
    until([&] {
      return std::all_of(streams_.begin(), streams_.end(),
                         [&](cudaStream_t one) { return one->device != device || one->queue.empty(); });
    });
  }

 private:
  /// Does what is first in one of the streams; false where nothing can be done.
  bool step() {
    std::vector<cudaStream_t> ready;
    for (const cudaStream_t one : streams_)
      if (!one->queue.empty() && one->queue.front().possible()) ready.push_back(one);
    if (ready.empty()) return false;
    const cudaStream_t chosen = ready[random_() % ready.size()];
    const Work work = std::move(chosen->queue.front());
    chosen->queue.pop_front();
    work.act();
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::mt19937 random_;
  std::vector<cudaStream_t> streams_;
};

Scheduler& scheduler() {
  static Scheduler one;
  return one;
}

/// The device of the calling thread is its default stream.
cudaStream_t default_stream() {
  struct Default {
    Default() {
      stream.device = &stream;
      scheduler().add(&stream);
    }
    Default(const Default&) = delete;
    Default& operator=(const Default&) = delete;
    ~Default() { scheduler().remove(&stream); }
    CUstream_st stream;
  };
  thread_local Default own;
  return &own.stream;
}

cudaStream_t or_default(cudaStream_t stream) { return stream != nullptr ? stream : default_stream(); }

cudaError_t allocate(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  std::memset(*memory, 0xff, bytes);  // NaN
  return cudaSuccess;
}

/// Device memory. Handles mean the base of a block; small allocations do not begin there.
class Blocks {
 public:
  void* add(std::size_t bytes) {
    constexpr std::size_t block = std::size_t{1} << 21, skipped = 256;
    const std::size_t at = bytes % block == 0 ? 0 : skipped;
    void* base = nullptr;
    allocate(&base, at + bytes);
    const std::lock_guard lock(mutex_);
    bases_[static_cast<std::byte*>(base) + at] = base;
    return static_cast<std::byte*>(base) + at;
  }
  void remove(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = bases_.find(memory);
    if (found == bases_.end() || mapped_[found->second] > 0) {
      std::fprintf(stderr, "memory is freed that is %s\n", found == bases_.end() ? "not there" : "mapped");
      std::_Exit(1);
    }
    std::free(found->second);
    bases_.erase(found);
  }
  void* base(void* memory) {
    const std::lock_guard lock(mutex_);
    return bases_.at(memory);
  }
  void map(void* base, int times) {
    const std::lock_guard lock(mutex_);
    mapped_[base] += times;
  }
  std::atomic<bool> refuses = false;

 private:
  std::mutex mutex_;
  std::map<void*, void*> bases_;  // of allocations
  std::map<void*, int> mapped_;   // how often, by base
};

/// Memory stays until the process exits where ranks have left it mapped after a failure.
Blocks& blocks() {
  static auto* const all = new Blocks;
  return *all;
}

}  // namespace

namespace sptile::test {

void seed_emulated_devices(unsigned seed) { scheduler().seed(seed); }
void enqueue(cudaStream_t stream, Work work) {
  const cudaStream_t on = or_default(stream);
  if (on->capture == nullptr) return scheduler().put(on, std::move(work));
  ++on->captured;
  on->capture->work.push_back(std::move(work));
}
void refuse_mapping(bool refuse) { blocks().refuses = refuse; }
void look(const std::function<void()>& at) { scheduler().look(at); }

}  // namespace sptile::test

cudaError_t cudaGetDevice(int* ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t code) {
  switch (code) {
    case cudaSuccess:
      return "no error";
    case cudaErrorNotReady:
      return "not ready";
    case cudaErrorNotSupported:
      return "operation not supported";
    default:
      return "operation not permitted in a capture";
  }
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  *memory = blocks().add(bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  if (memory == nullptr) return cudaSuccess;
  scheduler().drain(default_stream());
  blocks().remove(memory);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaFreeHost(void* memory) {
  if (memory != nullptr) scheduler().drain(default_stream());
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* memory) {
  void* const base = blocks().base(memory);
  std::memcpy(handle->reserved, &base, sizeof base);
  return cudaSuccess;
}
cudaError_t cudaIpcOpenMemHandle(void** memory, cudaIpcMemHandle_t handle, unsigned) {
  if (blocks().refuses) return cudaErrorNotSupported;
  std::memcpy(memory, handle.reserved, sizeof *memory);
  blocks().map(*memory, 1);
  return cudaSuccess;
}
cudaError_t cudaIpcCloseMemHandle(void* memory) {
  blocks().map(memory, -1);
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  scheduler().drain(default_stream());
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  cudaStreamSynchronize(nullptr);
  std::memcpy(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  sptile::test::enqueue(stream, {[=] { std::memcpy(to, from, bytes); }});
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int byte, std::size_t bytes, cudaStream_t stream) {
  sptile::test::enqueue(stream, {[=] { std::memset(to, byte, bytes); }});
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = new CUstream_st;
  (*stream)->device = default_stream();
  scheduler().add(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  scheduler().remove(stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (or_default(stream)->capture != nullptr) return cudaErrorStreamCaptureUnsupported;
  scheduler().until([one = or_default(stream)] { return one->queue.empty(); });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const cudaStream_t on = or_default(stream);
  if (const auto capture = event->capture; capture != nullptr) {
    if (capture->ended) return cudaErrorCapturedEvent;
    if (on->capture == nullptr) {
      on->capture = capture;
      on->captured = 0;
      capture->joined[on] = 0;
      sptile::test::enqueue(on, {[] {}});
    }
    if (on == capture->origin && event->stream != on) capture->joined[event->stream] = event->captured;
    return on->capture == capture ? cudaSuccess : cudaErrorStreamCaptureIsolation;
  }
  if (on->capture != nullptr) return cudaErrorStreamCaptureIsolation;
  const auto times = event->times;
  sptile::test::enqueue(stream,
                        {[] {}, [times, wanted = times->recorded] { return times->happened >= wanted; }});
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  event->stream = or_default(stream);
  event->capture = event->stream->capture;
  event->captured = event->stream->captured;
  if (event->capture != nullptr) return cudaSuccess;
  const auto times = event->times;
  sptile::test::enqueue(stream, {[times, number = ++times->recorded] { times->happened = number; }});
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->capture != nullptr) return cudaErrorCapturedEvent;
  bool happened = false;
  sptile::test::look([&] { happened = event->times->happened >= event->times->recorded; });
  return happened ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  scheduler().until([times = event->times] { return times->happened >= times->recorded; });
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  stream->capture = std::make_shared<Capture>();
  stream->capture->origin = stream;
  stream->captured = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  const auto capture = std::exchange(stream->capture, nullptr);
  capture->ended = true;
  bool all_joined = true;
  for (const auto& [other, operations] : capture->joined) {
    all_joined = all_joined && operations == other->captured;
    other->capture = nullptr;
  }
  if (!all_joined) return cudaErrorStreamCaptureUnjoined;
  *graph = new CUgraph_st(*capture);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* work, cudaGraph_t graph, unsigned long long) {
  *work = new CUgraphExec_st{*graph};
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t work, cudaStream_t stream) {
  for (const Work& one : work->work) sptile::test::enqueue(stream, one);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t work) {
  delete work;
  return cudaSuccess;
}
