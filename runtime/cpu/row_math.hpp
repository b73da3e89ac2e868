// What softmax and attention on the CPU leave to code for an instruction set and for types of elements: the
// loops over columns. Everything else is done once, in double (softmax.cpp, attention.cpp): libraries for
// three instruction sets times six pairs of types would not be small.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// Some rows of an operand.
struct RowList {
  const void* data = nullptr;  ///< of row 0, at the first column that is wanted
  std::int64_t ld = 0;
  const std::int32_t* ids = nullptr;
  std::int64_t count = 0;
};

/// Columns that are summed together; bytes of their sums, of any type.
inline constexpr int kSumColumns = 256;
inline constexpr int kSumBytes = 8 * kSumColumns;

/// Functions for operands of one type and results of one.
struct RowMath {
  double (*read)(const void* list, std::int64_t i);     ///< an operand
  void (*write)(void* list, std::int64_t i, double x);  ///< a result
  /// to[k] = x . row k over n columns.
  void (*dots)(const void* x, const RowList& rows, std::int64_t n, double* to);
  /// to[k] = row k . row k.
  void (*squares)(const RowList& rows, std::int64_t n, double* to);
  /// Adds weights[k] * row k to sums that are bytes of 0 at first.
  void (*add)(const RowList& rows, const double* weights, int columns, std::byte* sums);
  /// Writes scale * sums to a row of the result.
  void (*store)(const std::byte* sums, double scale, int columns, void* row);
  const void* one;  ///< an operand
  int operand_bytes, result_bytes;
  bool wide;  ///< statistics are f64
};

void softmax_rows(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void softmax_rows_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void attend_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;

}  // namespace sptile::runtime
