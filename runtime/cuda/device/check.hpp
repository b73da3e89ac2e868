// Conversion of CUDA errors.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

/// Returns Errc::device, naming the operation, if `code` is an error.
inline Status check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  return fail(Errc::device, std::string("cuda: ") + what + ": " + cudaGetErrorString(code));
}

}  // namespace sptile::runtime::cuda
