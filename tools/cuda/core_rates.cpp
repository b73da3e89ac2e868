#include "tools/cuda/core_rates.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "runtime/cuda/backend.hpp"
#include "runtime/cuda/device/check.hpp"
#include "runtime/cuda/device/device_buffer.hpp"
#include "tools/cuda/core_kernels.hpp"
#include "tools/cuda/launch_timer.hpp"
#include "tools/measure/time_summary.hpp"

namespace sptile::tools {
namespace {

using cuda::LaunchTimer;

constexpr double kRatios[] = {0.1, 1, 5};
constexpr int kBlocksPerSm = 4;     // 16 warps of each kind, four per scheduler
constexpr int kTrial = 1 << 14;     // iterations whose time determines the others
constexpr double kTensorUs = 1000;  // time of the tensor cores
constexpr int kMaxIterations = 1 << 28;

/// Iterations of the two kinds of warps.
struct CoreWork {
  int mma = 0, fma = 0;
};

/// A mode of execution: the time to set, and kernels that run in turn.
struct Mode {
  double CoreRate::*us;
  std::vector<CoreWork> kernels;
};

/// Measures times in microseconds.
class CoreTimer {
 public:
  CoreTimer(LaunchTimer& timer, int blocks, float* sink) : timer_(timer), blocks_(blocks), sink_(sink) {}

  /// Returns the median time of a sequence of kernels.
  Result<double> time(const std::vector<CoreWork>& kernels) {
    int launches = 0;
    auto seconds = timer_.time(
        [&](cudaStream_t stream) {
          Status s;
          for (const CoreWork& work : kernels)
            if (s)
              s = runtime::cuda::check(
                  static_cast<cudaError_t>(cuda::run_cores(work.mma, work.fma, blocks_, sink_, stream)),
                  "measuring both kinds of cores");
          return s;
        },
        launches);
    if (!seconds) return tl::unexpected(seconds.error());
    return 1e6 * summarise(std::move(*seconds)).median;
  }

 private:
  LaunchTimer& timer_;
  int blocks_;
  float* sink_;
};

// Returns the iterations that take a time, from the time of kTrial iterations.
int iterations_for(double us, double trial_us) {
  return static_cast<int>(std::clamp(std::round(kTrial * us / trial_us), 1.0, double{kMaxIterations}));
}

Result<CoreRate> measure_ratio(CoreTimer& timer, double ratio, int mma, double fma_trial_us, int blocks) {
  const int fma = iterations_for(ratio * kTensorUs, fma_trial_us);
  CoreRate rate{.ratio = ratio,
                .tensor_flops = cuda::kMmaFlops * mma * blocks,
                .cuda_flops = cuda::kFmaFlops * fma * blocks};
  const Mode modes[] = {{&CoreRate::tensor_us, {{mma, 0}}},
                        {&CoreRate::cuda_us, {{0, fma}}},
                        {&CoreRate::sequential_us, {{mma, 0}, {0, fma}}},
                        {&CoreRate::concurrent_us, {{mma, fma}}}};
  for (const Mode& mode : modes) {
    const auto us = timer.time(mode.kernels);
    if (!us) return tl::unexpected(us.error());
    rate.*mode.us = *us;
  }
  return rate;
}

}  // namespace

Result<std::vector<CoreRate>> measure_core_rates() {
  const auto device = runtime::cuda::find_device(0);
  if (!device) return tl::unexpected(device.error());
  if (Status s = runtime::cuda::check(cudaSetDevice(0), "selecting the device"); !s)
    return tl::unexpected(s.error());
  auto launches = LaunchTimer::make({});
  if (!launches) return tl::unexpected(launches.error());
  auto sink = runtime::cuda::DeviceBuffer::allocate(sizeof(float), "a result");
  if (!sink) return tl::unexpected(sink.error());
  const int blocks = kBlocksPerSm * device->sm_count;
  CoreTimer timer(*launches, blocks, reinterpret_cast<float*>(sink->data()));
  const auto mma_us = timer.time({{kTrial, 0}}), fma_us = timer.time({{0, kTrial}});
  if (!mma_us) return tl::unexpected(mma_us.error());
  if (!fma_us) return tl::unexpected(fma_us.error());
  std::vector<CoreRate> rates;
  for (const double ratio : kRatios) {
    auto rate = measure_ratio(timer, ratio, iterations_for(kTensorUs, *mma_us), *fma_us, blocks);
    if (!rate) return tl::unexpected(std::move(rate.error()));
    rates.push_back(*rate);
  }
  return rates;
}

}  // namespace sptile::tools
