// Element types of stored arrays. Their codes are part of the bundle format and never change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/core/half.hpp"

namespace sptile {

enum class DType : std::uint32_t {
  none = 0,
  u8 = 1,
  i32 = 2,
  u32 = 3,
  i64 = 4,
  u64 = 5,
  f16 = 6,
  bf16 = 7,
  f32 = 8,
  f64 = 9
};

/// One row per element type; `name` is used by the command line, JSON and error messages.
struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t bytes;
  bool is_value;  ///< may hold matrix values (f16, bf16, f32, f64)
};

inline constexpr DTypeInfo kDTypes[] = {
    {DType::none, "none", 0, false}, {DType::u8, "u8", 1, false},    {DType::i32, "i32", 4, false},
    {DType::u32, "u32", 4, false},   {DType::i64, "i64", 8, false},  {DType::u64, "u64", 8, false},
    {DType::f16, "f16", 2, true},    {DType::bf16, "bf16", 2, true}, {DType::f32, "f32", 4, true},
    {DType::f64, "f64", 8, true},
};

/// Returns whether a stored array may have this code (1 to 9).
constexpr bool is_known(DType d) { return d >= DType::u8 && d <= DType::f64; }
constexpr const DTypeInfo& info(DType d) { return kDTypes[static_cast<std::uint32_t>(d)]; }
constexpr std::size_t size_of(DType d) { return info(d).bytes; }
constexpr std::string_view name_of(DType d) { return info(d).name; }

/// Returns the value type with this name ("f32"), or nothing for unknown names and index types.
constexpr std::optional<DType> value_dtype_from_name(std::string_view name) {
  for (const DTypeInfo& row : kDTypes)
    if (row.is_value && row.name == name) return row.dtype;
  return std::nullopt;
}

template <class T>
inline constexpr DType dtype_of = DType::none;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::uint32_t> = DType::u32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;
template <>
inline constexpr DType dtype_of<std::uint64_t> = DType::u64;
template <>
inline constexpr DType dtype_of<Half> = DType::f16;
template <>
inline constexpr DType dtype_of<BFloat16> = DType::bf16;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;

}  // namespace sptile
