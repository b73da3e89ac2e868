#include "runtime/cuda/papers/by_name.hpp"
#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/operation/sddmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  Kernel kernel = by_name(name, "libra_spmm", summary, instances);
  kernel.deterministic = false;
  return kernel;
}

/// The kernel that uses the thresholds of the profile. The constants of its cost model also predict .streams.
constexpr Kernel fitted() {
  Kernel kernel = row(kLibraFitted, "like .streams, but with the occupancy thresholds of the profile",
                      SPTILE_BUILT(libra_fitted_kernels));
  kernel.costs = kLibraOccupancyCosts;
  return kernel;
}

constexpr Kernel published() {
  Kernel kernel =
      row(kLibraStreams, "Libra load balancing and scheduling: atomic sums of segments, one or two streams",
          SPTILE_BUILT(libra_streams_kernels));
  kernel.like = kLibraFitted;
  return kernel;
}

/// SDDMM adds no sums, so its results do not depend on the order.
constexpr Kernel sddmm(std::string_view name, std::string_view summary, Instances instances) {
  Kernel kernel = by_name(name, "libra_sddmm", summary, instances);
  kernel.op = &kSddmm;
  return kernel;
}

constexpr Kernel kRows[] = {
#ifdef SPTILE_ABLATIONS
    sddmm(kLibraSddmmUncut, "SDDMM like .streams, but does not split windows or rows",
          SPTILE_BUILT(libra_sddmm_uncut_kernels)),
    row(kLibraUncutName, "like .streams, but does not split windows or rows",
        SPTILE_BUILT(libra_uncut_kernels)),
    row(kLibraStaged,
        "like .streams, but copies B, values and masks to shared memory for 64 columns and more",
        SPTILE_BUILT(libra_staged_kernels)),
#endif
    row(kLibraConcurrent, "like .streams, but always on two streams", SPTILE_BUILT(libra_concurrent_kernels)),
    row(kLibraSequential, "like .streams, but always on one stream", SPTILE_BUILT(libra_sequential_kernels)),
    fitted(),
    published(),
    sddmm(kLibraSddmmConcurrent, "SDDMM like .streams, but always on two streams",
          SPTILE_BUILT(libra_sddmm_concurrent_kernels)),
    sddmm(kLibraSddmmSequential, "SDDMM like .streams, but always on one stream",
          SPTILE_BUILT(libra_sddmm_sequential_kernels)),
    sddmm(kLibraSddmmStreams, "SDDMM with Libra load balancing and scheduling: segments, one or two streams",
          SPTILE_BUILT(libra_sddmm_streams_kernels)),
};

}  // namespace

std::span<const Kernel> libra_streams_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
