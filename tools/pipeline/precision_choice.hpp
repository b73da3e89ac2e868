// Precisions to measure, by name, with the types of operands that they mean.
#pragma once

#include <string>
#include <vector>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"

namespace sptile::tools {

/// One way to multiply, and the types that go with it.
struct PrecisionChoice {
  std::string name;           ///< as typed; empty: the kernel's own
  DType values = DType::f32;  ///< of A
  std::string dense;          ///< of B and C; empty: by the values
  std::string result;         ///< of C alone; empty: as B
};

/// Reads a list with commas; empty: the kernels' own. fp16, bf16 and fp64 mean operands of that type, fp32
/// and tf32 those of f32; `dtype` (of A) and `dense` win over that when they are not empty; `result` is that
/// of all. Errc::usage names what is unknown.
Result<std::vector<PrecisionChoice>> parse_precisions(const std::string& list, const std::string& dtype,
                                                      const std::string& dense,
                                                      const std::string& result = {});

}  // namespace sptile::tools
