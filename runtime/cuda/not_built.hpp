// What is said where there are no kernels.
#pragma once

#include "formats/error.hpp"

namespace sptile::runtime::cuda {

inline tl::unexpected<Error> not_built() {
  return fail(Errc::unsupported,
              "this build has no kernels for CUDA devices; use the CPU, or build where nvcc is");
}

}  // namespace sptile::runtime::cuda
