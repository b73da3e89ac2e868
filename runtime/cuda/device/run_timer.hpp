// Times runs of a plan on the default stream of the current device.
#pragma once

#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/plan.hpp"

namespace sptile::runtime::cuda {

class RunTimer {
 public:
  RunTimer() {
    status_ = check(cudaEventCreate(&begin_), "creating an event");
    if (status_) status_ = check(cudaEventCreate(&end_), "creating an event");
  }
  RunTimer(const RunTimer&) = delete;
  RunTimer& operator=(const RunTimer&) = delete;
  ~RunTimer() {
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }

  /// Returns the seconds per run of `runs` consecutive runs; operands are in device memory.
  Result<double> seconds(const Plan& plan, const Operands& operands, int runs = 1) {
    if (status_) status_ = check(cudaEventRecord(begin_), "timing");
    for (int i = 0; i < runs; ++i)
      if (status_) status_ = run(plan, operands, nullptr);
    if (status_) status_ = check(cudaEventRecord(end_), "timing");
    if (status_) status_ = check(cudaEventSynchronize(end_), "running a kernel");
    float milliseconds = 0;
    if (status_) status_ = check(cudaEventElapsedTime(&milliseconds, begin_, end_), "timing");
    if (!status_) return tl::unexpected(status_.error());
    return 1e-3 * static_cast<double>(milliseconds) / runs;
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  Status status_;
};

}  // namespace sptile::runtime::cuda
