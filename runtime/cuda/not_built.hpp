// Error of builds without kernels.
#pragma once

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

inline tl::unexpected<Error> not_built() {
  return fail(Errc::unsupported, "this build has no CUDA kernels; use the CPU, or build with nvcc");
}

}  // namespace sptile::runtime::cuda
