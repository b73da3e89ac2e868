// Checks and conversion of the C interface's arguments: structs of any version, types, precisions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "formats/core/dtype.hpp"
#include "formats/core/error.hpp"
#include "runtime/core/attributes.hpp"
#include "runtime/core/options.hpp"
#include "runtime/handle/plan.hpp"
#include "runtime/include/sptile.h"
#include "runtime/operation/operation.hpp"

namespace sptile::runtime {

/// Returns the minimum size of a struct in all versions: up to and including this field.
#define SPTILE_SIZE_WITH(type, field) (offsetof(type, field) + sizeof(type::field))

/// Reads a struct of any version: fields that the caller's version lacks keep their defaults, and fields that
/// this version lacks must be zero. `first_size` is the size in the first version.
template <class T>
Result<T> read_struct(const T* from, std::size_t first_size, const T& defaults, const char* what) {
  if (from->size < first_size)
    return fail(Errc::usage, std::string(what) + ".size = " + std::to_string(from->size) +
                                 "; initialize it with its ..._INIT macro, or set size to sizeof");
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (std::size_t i = sizeof(T); i < from->size; ++i)
    if (bytes[i] != 0)
      return fail(Errc::usage,
                  std::string(what) + " sets a field that sptile " SPTILE_VERSION " does not support");
  T copy = defaults;
  std::memcpy(&copy, from, std::min(from->size, sizeof(T)));
  return copy;
}

/// Writes the fields that the caller's struct has, and zeros to the rest of a longer one.
template <class T>
Status write_struct(T* to, T value, std::size_t first_size, const char* what) {
  const std::size_t size = to->size;
  if (size < first_size)
    return fail(Errc::usage, std::string(what) + ".size = " + std::to_string(size) + "; set it to sizeof");
  value.size = size;
  std::memset(to, 0, size);
  std::memcpy(to, &value, std::min(size, sizeof(T)));
  return {};
}

/// Returns the value type of a code; messages call the argument `what`.
Result<DType> value_type(std::int64_t code, const char* what);

/// Returns the value type of a matrix in memory, none for SPTILE_DTYPE_NONE. Checks that values are given if
/// and only if the type and nnz require them. Messages start with `call`.
Result<DType> matrix_value_type(const char* call, const void* values, std::int64_t code, std::int64_t nnz);

/// Returns the operation of this name.
Result<const Operation*> operation_named(const char* call, const char* name);

/// Conversion of precisions; those of the C interface count from 1 in the same order.
constexpr Precision precision_of(int code) { return static_cast<Precision>(code - SPTILE_PRECISION_FP32); }
constexpr sptile_precision code_of(Precision precision) {
  return static_cast<sptile_precision>(static_cast<int>(precision) + SPTILE_PRECISION_FP32);
}
static_assert(precision_of(SPTILE_PRECISION_TF32) == Precision::tf32 &&
              precision_of(SPTILE_PRECISION_FP16) == Precision::fp16);
static_assert(precision_of(SPTILE_PRECISION_BF16) == Precision::bf16 &&
              code_of(Precision::fp64) == SPTILE_PRECISION_FP64);

/// Conversion of device codes.
Result<Device> device_of(std::int64_t code, const char* what);
constexpr sptile_device code_of(Device device) {
  return device == Device::cpu ? SPTILE_DEVICE_CPU : SPTILE_DEVICE_CUDA;
}

/// Sets the attributes of PlanOptions or Operands. `what` names the struct in messages: "options".
template <class Owner>
Status set_attributes(Owner& owner, const sptile_attribute* attributes, std::int32_t count,
                      const char* what) {
  if (count < 0 || (attributes == nullptr && count > 0))
    return fail(Errc::usage, std::string(what) + ".attribute_count = " + std::to_string(count) +
                                 "; pass the number of elements of attributes");
  std::uint64_t given = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const auto& [name, value] = attributes[i];
    const Status s =
        name == nullptr ? fail(Errc::usage, "name is NULL") : set_attribute(owner, name, value, given);
    if (!s)
      return fail(s.error().code,
                  std::string(what) + ".attributes[" + std::to_string(i) + "]: " + s.error().message);
  }
  return {};
}

/// Options of a plan, and the matrix that it is for. Strings are borrowed.
struct PlanArguments {
  PlanOptions options;
  MatrixChoice choice;
};
Result<PlanArguments> plan_arguments(const char* call, const sptile_plan_options* from);

}  // namespace sptile::runtime
