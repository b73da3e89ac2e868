// The families of kernels for CUDA, whose rows the table of kernels has.
#pragma once

#include <span>

#include "runtime/core/kernel.hpp"

namespace sptile::runtime::cuda {

using Family = std::span<const Kernel> (*)();

/// Of one format the best kernel comes last.
std::span<const Family> families();

}  // namespace sptile::runtime::cuda
