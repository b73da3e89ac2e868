// Names of value types: the short names of dtype.hpp and those of NumPy and PyTorch.
#pragma once

#include <optional>
#include <string_view>

#include "formats/core/dtype.hpp"

namespace sptile {

/// One row per value type.
struct LongDTypeName {
  DType dtype;
  std::string_view name;  ///< "float32"
};

inline constexpr LongDTypeName kLongDTypeNames[] = {
    {DType::f32, "float32"}, {DType::f64, "float64"}, {DType::f16, "float16"}, {DType::bf16, "bfloat16"}};

/// Returns the value type named "f32" or "float32", for example; nothing for unknown names and index types.
constexpr std::optional<DType> parse_value_dtype(std::string_view name) {
  for (const LongDTypeName& row : kLongDTypeNames)
    if (row.name == name) return row.dtype;
  return value_dtype_from_name(name);
}

}  // namespace sptile
