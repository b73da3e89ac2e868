// Families of CUDA kernels, whose rows form the kernel table.
#pragma once

#include <span>

#include "runtime/core/kernel.hpp"

namespace sptile::runtime::cuda {

using Family = std::span<const Kernel> (*)();

/// Returns all families; the best kernel of a format is last.
std::span<const Family> families();

}  // namespace sptile::runtime::cuda
