#include "tools/bench/batch/timing.hpp"

#include <algorithm>

#include "tools/bench/bench_device.hpp"

namespace sptile::tools::timing {
namespace {

/// A captured step.
class Graph {
 public:
  explicit Graph(const Step& step) {
    expect(cudaStreamBeginCapture(work_stream(), cudaStreamCaptureModeThreadLocal));
    for (const Launch& launch : step) launch(work_stream());
    expect(cudaStreamEndCapture(work_stream(), &graph_));
    expect(cudaGraphInstantiate(&executable_, graph_, 0));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void launch() const { expect(cudaGraphLaunch(executable_, work_stream())); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

/// Microseconds on the device of what is enqueued.
double elapsed_us(const std::function<void()>& enqueue) {
  static cudaEvent_t begin = nullptr, end = nullptr;
  if (begin == nullptr) expect(cudaEventCreate(&begin));
  if (end == nullptr) expect(cudaEventCreate(&end));
  expect(cudaEventRecord(begin, work_stream()));
  enqueue();
  expect(cudaEventRecord(end, work_stream()));
  expect(cudaEventSynchronize(end));
  float milliseconds = 0;
  expect(cudaEventElapsedTime(&milliseconds, begin, end));
  return 1e3 * static_cast<double>(milliseconds);
}

/// Median microseconds of what is enqueued; see graph_us.
double repeated_us(const std::function<void()>& enqueue, std::size_t flush_bytes) {
  constexpr int kGroups = 11;
  constexpr double kGroupUs = 4000;
  const DeviceBytes flushed(flush_bytes);
  expect(cudaDeviceSynchronize());
  enqueue();  // loads the code
  const double once = elapsed_us(enqueue);
  const int together = flush_bytes > 0 ? 1 : static_cast<int>(std::clamp(kGroupUs / once, 1.0, 200.0));
  std::vector<double> us;
  for (int group = 0; group < kGroups; ++group) {
    if (flush_bytes > 0) expect(cudaMemsetAsync(flushed.get(), 0, flush_bytes, work_stream()));
    us.push_back(elapsed_us([&] {
                   for (int i = 0; i < together; ++i) enqueue();
                 }) /
                 together);
  }
  return median(std::move(us));
}

}  // namespace

cudaStream_t work_stream() {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void run(const Step& step) {
  for (const Launch& launch : step) launch(work_stream());
  expect(cudaStreamSynchronize(work_stream()));
}

double stream_us(const Step& step) {
  const auto enqueue = [&] {
    for (const Launch& launch : step) launch(work_stream());
  };
  return repeated_us(enqueue, 0);
}

double graph_us(const Step& step, std::size_t flush_bytes) {
  const Graph graph(step);
  return repeated_us([&] { graph.launch(); }, flush_bytes);
}

}  // namespace sptile::tools::timing
