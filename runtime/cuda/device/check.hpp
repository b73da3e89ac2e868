// CUDA's errors as ours.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

/// Fails with Errc::device, naming what was tried.
inline Status check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return {};
  return fail(Errc::device, std::string("cuda: ") + what + ": " + cudaGetErrorString(code));
}

}  // namespace sptile::runtime::cuda
