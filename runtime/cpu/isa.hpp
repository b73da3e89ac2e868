// Instruction sets that the CPU kernels are compiled for, from the baseline to the best.
#pragma once

#include <span>
#include <string_view>

#include "runtime/core/kernel.hpp"
#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

struct Isa {
  std::string_view name;
  bool (*available)();  ///< returns whether this machine supports it
  CpuKernels (*kernels)();
};

std::span<const Isa> isas();

/// Returns a row by name; nullptr if this build does not have it.
const Isa* find_isa(std::string_view name);

/// Returns the function of a CPU kernel for these types; null if there is none.
ChunkFn find_function(const Kernel& kernel, DType values, const DenseTypes& dense);

}  // namespace sptile::runtime
