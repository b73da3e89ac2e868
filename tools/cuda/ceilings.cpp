#include "tools/cuda/ceilings.hpp"

#include <cstring>
#include <memory>

#include "runtime/cuda/device/check.hpp"
#include "tools/cuda/device_math.hpp"
#include "tools/cuda/launch_timer.hpp"
#include "tools/measure/time_summary.hpp"

namespace sptile::tools::cuda {
namespace {

using runtime::cuda::check;
using runtime::cuda::DeviceBuffer;

constexpr std::size_t kCopied = std::size_t{1} << 30;
constexpr std::size_t kPinned = std::size_t{256} << 20;
constexpr int kPasses = 32;      // so that the launch latency is negligible
constexpr int kBlocksPerSm = 8;  // blocks of 256 threads: the maximum occupancy

/// Returns the rate in bytes per second.
Result<double> rate(double bytes, LaunchTimer& timer, const Launch& launch) {
  int launches = 0;
  auto seconds = timer.time(launch, launches);
  if (!seconds) return tl::unexpected(seconds.error());
  return bytes / summarise(std::move(*seconds)).median;
}

struct FreePinned {
  void operator()(void* p) const { cudaFreeHost(p); }
};

Result<double> pinned_rate(LaunchTimer& timer, const DeviceBuffer& to) {
  void* host = nullptr;
  if (Status s = check(cudaMallocHost(&host, kPinned), "pinning memory"); !s)
    return tl::unexpected(s.error());
  const std::unique_ptr<void, FreePinned> owner(host);
  std::memset(host, 1, kPinned);
  return rate(static_cast<double>(kPinned), timer, [&](cudaStream_t stream) {
    return check(cudaMemcpyAsync(to.data(), host, kPinned, cudaMemcpyHostToDevice, stream), "copying");
  });
}

}  // namespace

Result<Ceilings> measure_ceilings(const runtime::cuda::DeviceInfo& device) {
  auto timer = LaunchTimer::make({});
  if (!timer) return tl::unexpected(timer.error());
  auto from = DeviceBuffer::allocate(kCopied, "copies"), to = DeviceBuffer::allocate(kCopied, "copies");
  if (!from) return tl::unexpected(from.error());
  if (!to) return tl::unexpected(to.error());
  if (Status s = check(cudaMemset(from->data(), 1, kCopied), "filling"); !s) return tl::unexpected(s.error());
  const auto copy = rate(2.0 * kCopied, *timer, [&](cudaStream_t stream) {
    return check(cudaMemcpyAsync(to->data(), from->data(), kCopied, cudaMemcpyDeviceToDevice, stream),
                 "copying");
  });
  if (!copy) return tl::unexpected(copy.error());
  const std::size_t footprint = device.l2_bytes / 2 / 256 * 256;
  const auto l2 = rate(static_cast<double>(footprint) * kPasses, *timer, [&](cudaStream_t stream) {
    return check(static_cast<cudaError_t>(read_repeatedly(
                     from->data(), footprint, kPasses, kBlocksPerSm * device.sm_count, to->data(), stream)),
                 "reading");
  });
  if (!l2) return tl::unexpected(l2.error());
  const auto pinned = pinned_rate(*timer, *to);
  if (!pinned) return tl::unexpected(pinned.error());
  return Ceilings{*copy, *l2, *pinned};
}

}  // namespace sptile::tools::cuda
