// The kernels that the CPU files, compiled once per instruction set, hand to the planner.
#pragma once

#include <string_view>

#include "formats/dtype.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/cpu/chunk.hpp"

namespace sptile::runtime {

/// What every operation needs of the matrix. Tasks are only plain data: the files compiled for an instruction
/// set must not instantiate inline functions that other files share, or the linker might keep the copy that
/// this machine cannot run.
struct MatrixTask {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;   ///< new_to_old; null: rows go where they stand
  const std::int32_t* empty_rows = nullptr;  ///< rows that no unit of the format covers (rs_tile)
};

/// Everything one run of SpMM needs.
struct SpmmTask : MatrixTask {
  const void* b = nullptr;
  std::int64_t ldb = 0;
  void* c = nullptr;
  std::int64_t ldc = 0;
  double alpha = 1, beta = 0;
};

/// Everything one run of SDDMM needs.
struct SddmmTask : MatrixTask {
  const void* x = nullptr;
  std::int64_t ldx = 0;
  const void* y = nullptr;
  std::int64_t ldy = 0;
  std::int64_t n = 0;  ///< features: columns of X and Y
  void* out = nullptr;
  double alpha = 1, beta = 0;
  bool scaled = false;
  DType values = DType::none;  ///< of A
};

/// Computes the part of the result that the chunk names. The task is the one of the kernel's operation.
using ChunkFn = void (*)(const MatrixTask&, const Chunk&) noexcept;

/// One row per operation, format and pair of types; DType::none as value type is a pattern.
struct CpuKernel {
  std::string_view op;
  std::string_view format;
  bool any_values;  ///< serves every type of values, whatever `values` says
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
