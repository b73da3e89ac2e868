// Precisions to measure, by name, with the operand types that they imply.
#pragma once

#include <string>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"

namespace sptile::tools {

/// A precision and the corresponding types.
struct PrecisionChoice {
  std::string name;           ///< as typed; empty: the kernel's default
  DType values = DType::f32;  ///< type of A
  std::string dense;          ///< type of B and C; empty: derived from the values
  std::string result;         ///< type of C; empty: that of B
};

/// Parses a comma-separated list; empty: the kernels' default. fp16, bf16 and fp64 imply operands of that
/// type, fp32 and tf32 f32. Nonempty `dtype` (of A) and `dense` override this; `result` applies to all.
/// Errc::usage names the unknown part.
Result<std::vector<PrecisionChoice>> parse_precisions(const std::string& list, const std::string& dtype,
                                                      const std::string& dense,
                                                      const std::string& result = {});

}  // namespace sptile::tools
