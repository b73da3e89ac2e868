// Entry point of libsptile-cuda.
#include "runtime/cuda/part.hpp"

namespace sptile::runtime::cuda {
namespace {
constexpr Part kPart = {
#define SPTILE_MEMBER(function) .function = &cuda::function,
    SPTILE_CUDA_SEAM(SPTILE_MEMBER)
#undef SPTILE_MEMBER
};
}  // namespace
}  // namespace sptile::runtime::cuda

extern "C" [[gnu::visibility("default")]] const sptile::runtime::cuda::Part* sptile_cuda_part() {
  return &sptile::runtime::cuda::kPart;
}
