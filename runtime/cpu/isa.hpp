// The instruction sets that the CPU kernels are compiled for, from the one that always works to the best.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

struct Isa {
  std::string_view name;
  bool (*available)();  ///< this machine runs it
  CpuKernels (*kernels)();
};

std::span<const Isa> isas();

/// Finds a row by name; nullptr when this build has none.
const Isa* find_isa(std::string_view name);

/// Finds the instance of a kernel for the CPU for these types; null when it has none.
ChunkFn find_function(const Kernel& kernel, DType values, const DenseTypes& dense);

}  // namespace sptile::runtime
