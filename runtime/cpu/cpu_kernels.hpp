// The kernels that the CPU files, compiled once per instruction set, hand to the planner.
#pragma once

#include <string_view>

#include "formats/core/dtype.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/operands.hpp"
#include "runtime/cpu/chunk.hpp"
#include "runtime/cpu/row_steps.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// Everything one run needs. It is only plain data: the files compiled for an instruction set must not
/// instantiate inline functions that other files share, or the linker might keep the copy that this machine
/// cannot run.
struct Task {
  formats::FormatView format;
  const std::int32_t* row_order = nullptr;   ///< new_to_old; null: rows go where they stand
  const std::int32_t* empty_rows = nullptr;  ///< rows that no unit of the format covers (rs_tile)
  DType values = DType::none;                ///< of A
  std::int64_t planned_n = 0;                ///< columns that chunks were cut for
  std::int64_t n = 0;                        ///< columns of the dense operands, at most as many
  RunSizes sizes;                            ///< n again, and m
  Operands operands;                         ///< of one head
  /// Where the numbers of a list go, by their place in the packed order; null: they stay there.
  const std::int64_t* list_order = nullptr;
  Variant variant;
  RowSteps steps;  ///< of csr
};

/// Computes the part of the result that the chunk names.
using ChunkFn = void (*)(const Task&, const Chunk&) noexcept;

/// What runs a combination of types; DType::none as value type is a pattern.
struct CpuFunction {
  DType values;
  DType dense;
  ChunkFn run;
  DType result = DType::none;  ///< none: as `dense`
};

/// One row per operation and format.
struct CpuKernel {
  const Operation* op;
  std::string_view format;
  std::string_view summary;
  bool any_values;  ///< functions serve every type of values, whatever they say
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
