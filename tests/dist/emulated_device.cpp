#include "tests/dist/emulated_device.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <utility>
#include <vector>

using sptile::test::Work;

struct CUstream_st {
  std::deque<Work> queue;
  const void* device = nullptr;
};

struct CUevent_st {
  struct Times {
    int recorded = 0, happened = 0;
  };
  std::shared_ptr<Times> times = std::make_shared<Times>();
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

}  // namespace

namespace sptile::test {

void seed_emulated_devices(unsigned seed) { scheduler().seed(seed); }
void enqueue(cudaStream_t stream, Work work) { scheduler().put(or_default(stream), std::move(work)); }
void look(const std::function<void()>& at) { scheduler().look(at); }

}  // namespace sptile::test

cudaError_t cudaGetDevice(int* ordinal) {
  *ordinal = 0;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t code) { return code == cudaSuccess ? "no error" : "not ready"; }
cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaFree(void* memory) {
  if (memory != nullptr) scheduler().drain(default_stream());
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return allocate(memory, bytes); }
cudaError_t cudaFreeHost(void* memory) { return cudaFree(memory); }

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
  *stream = new CUstream_st{{}, default_stream()};
  scheduler().add(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  scheduler().remove(stream);
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  scheduler().until([one = or_default(stream)] { return one->queue.empty(); });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
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
  const auto times = event->times;
  sptile::test::enqueue(stream, {[times, number = ++times->recorded] { times->happened = number; }});
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  bool happened = false;
  sptile::test::look([&] { happened = event->times->happened >= event->times->recorded; });
  return happened ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  scheduler().until([times = event->times] { return times->happened >= times->recorded; });
  return cudaSuccess;
}
