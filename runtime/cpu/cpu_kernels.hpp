// Interface between the kernel files, compiled once per instruction set, and the planner.
#pragma once

#include <string_view>

#include "formats/core/dtype.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/cpu/chunk.hpp"
#include "runtime/cpu/row_steps.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// Arguments of one run. A trivial type: files compiled for an instruction set must not instantiate inline
/// functions that other files share, or the linker might keep a copy that this machine cannot run.
struct Task {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;   ///< new_to_old; null: original order
  const std::int32_t* empty_rows = nullptr;  ///< rows that no unit of the format covers (rs_tile)
  DType values = DType::none;                ///< type of the values of A
  std::int64_t planned_n = 0;                ///< number of columns that the chunks divide
  std::int64_t n = 0;                        ///< columns of the dense operands, at most planned_n
  RunSizes sizes;                            ///< n, m and heads
  Operands operands;                         ///< operands of one head
  /// Output position of each number of a list, by position in packed order; null: packed order.
  const std::int64_t* list_order = nullptr;
  Variant variant;
  RowSteps steps;  ///< for csr
};

/// Computes the chunk's part of the result.
using ChunkFn = void (*)(const Task&, const Chunk&) noexcept;

/// Function for a combination of types; DType::none as value type means a pattern.
struct CpuFunction {
  DType values;
  DType dense;
  ChunkFn run;
  DType result = DType::none;  ///< none: equal to `dense`
};

/// Kernel of one operation and format.
struct CpuKernel {
  const Operation* op;
  std::string_view format;
  std::string_view summary;
  bool any_values;  ///< functions accept any value type and ignore CpuFunction::values
  const CpuFunction* functions;
  int count;
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
namespace sve {
CpuKernels cpu_kernels();
}

}  // namespace sptile::runtime
