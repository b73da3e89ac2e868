#include "runtime/cuda/check.hpp"
#include "runtime/cuda/plan.hpp"
#include "runtime/cuda/upload.hpp"

namespace sptile::runtime::cuda {
namespace {

class Timer {
 public:
  Timer() {
    status_ = check(cudaEventCreate(&begin_), "making an event");
    if (status_) status_ = check(cudaEventCreate(&end_), "making an event");
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  Result<double> seconds(const Plan& plan, const SpmmOperands& operands) {
    if (status_) status_ = check(cudaEventRecord(begin_), "timing");
    if (status_) status_ = run(plan, operands, nullptr);
    if (status_) status_ = check(cudaEventRecord(end_), "timing");
    if (status_) status_ = check(cudaEventSynchronize(end_), "running a kernel");
    float milliseconds = 0;
    if (status_) status_ = check(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
    if (!status_) return tl::unexpected(status_.error());
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  Status status_;
};

/// Bytes of an operand; the row stride counts for every row but the last.
std::size_t operand_bytes(std::int64_t rows, std::int64_t stride, const Plan& plan) {
  if (rows == 0) return 0;
  return static_cast<std::size_t>((rows - 1) * stride + plan.n) * size_of(plan.kernel->dense);
}

}  // namespace

Result<std::vector<double>> run_from_host(const Plan& plan, const SpmmOperands& host, int warmup,
                                          int repeat) {
  const CurrentDevice current(plan.device.ordinal);
  if (Status s = check(current.status(), "choosing the device"); !s) return tl::unexpected(s.error());
  const std::size_t b_bytes = operand_bytes(plan.format.cols, host.ldb, plan),
                    c_bytes = operand_bytes(plan.format.rows, host.ldc, plan);
  auto b = DeviceBuffer::allocate(b_bytes, "B");
  if (!b) return tl::unexpected(b.error());
  auto c = DeviceBuffer::allocate(c_bytes, "C");
  if (!c) return tl::unexpected(c.error());
  {
    Uploader uploader;
    Status s = uploader.copy(b->data(), host.b, b_bytes);
    if (s) s = uploader.copy(c->data(), host.c, c_bytes);
    if (s) s = uploader.finish();
    if (!s) return tl::unexpected(s.error());
  }
  SpmmOperands operands = host;
  operands.b = b->data();
  operands.c = c->data();
  Timer timer;
  std::vector<double> seconds;
  for (int i = -warmup; i < repeat; ++i) {
    const Result<double> one = timer.seconds(plan, operands);
    if (!one) return tl::unexpected(one.error());
    if (i >= 0) seconds.push_back(*one);
  }
  if (Status s = check(cudaMemcpy(host.c, c->data(), c_bytes, cudaMemcpyDeviceToHost), "fetching C"); !s)
    return tl::unexpected(s.error());
  return seconds;
}

}  // namespace sptile::runtime::cuda
