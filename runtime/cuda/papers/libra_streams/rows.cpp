#include "runtime/cuda/built.hpp"
#include "runtime/cuda/papers/libra_streams/libra_streams.hpp"
#include "runtime/cuda/papers/libra_streams/schedule.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime::cuda {
namespace {

constexpr Kernel row(std::string_view name, std::string_view summary, Instances instances) {
  return {.name = name,
          .op = &kSpmm,
          .format = "libra_spmm",
          .device = Device::cuda,
          .isa = "sm_80",
          .deterministic = false,
          .summary = summary,
          .by_name = true,
          .costs = kLibraOccupancyCosts,
          .instances = instances};
}

constexpr Kernel kRows[] = {
    row(kLibraUncutName, "as .streams, without cutting windows or rows", SPTILE_BUILT(libra_uncut_kernels)),
    row(kLibraConcurrent, "as .streams, always on two streams", SPTILE_BUILT(libra_concurrent_kernels)),
    row(kLibraSequential, "as .streams, always on one stream", SPTILE_BUILT(libra_sequential_kernels)),
    row(kLibraStreams,
        "tiles and rows balanced and scheduled as in Libra: segments added by atomics, on one stream or two",
        SPTILE_BUILT(libra_streams_kernels)),
};

}  // namespace

std::span<const Kernel> libra_streams_rows() { return kRows; }

}  // namespace sptile::runtime::cuda
