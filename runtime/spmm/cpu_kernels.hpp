// The kernels that the CPU files, compiled once per instruction set, hand to the planner.
#pragma once

#include <string_view>

#include "formats/dtype.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/spmm/chunk.hpp"

namespace sptile::runtime {

/// Everything one run needs. Only plain data: the files compiled for an instruction set must not instantiate
/// inline functions that other files share, or the linker might keep the copy that this machine cannot run.
struct SpmmTask {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;   ///< new_to_old; null: rows go where they stand
  const std::int32_t* empty_rows = nullptr;  ///< rows that no unit of the format covers (rs_tile)
  const void* b = nullptr;
  std::int64_t ldb = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;
  double alpha = 1, beta = 0;
};

/// Computes the part of C that the chunk names.
using ChunkFn = void (*)(const SpmmTask&, const Chunk&) noexcept;

/// One row per format and pair of types; DType::none as value type is a pattern.
struct CpuKernel {
  std::string_view format;
  DType values;
  DType dense;
  ChunkFn run;
};

struct CpuKernels {
  const CpuKernel* rows;
  int count;
};

namespace generic {
CpuKernels cpu_kernels();
}
namespace avx2 {
CpuKernels cpu_kernels();
}
namespace avx512 {
CpuKernels cpu_kernels();
}

}  // namespace sptile::runtime
