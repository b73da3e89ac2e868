// Column loops of softmax, attention, layer_gradient and reductions, the only part that is compiled per
// instruction set and element type. The rest is compiled once, in double (softmax.cpp, attention.cpp,
// layer_gradient.cpp, reduce.cpp), which keeps the library small.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/cpu/cpu_kernels.hpp"

namespace sptile::runtime {

/// Rows of an operand.
struct RowList {
  const void* data = nullptr;  ///< row 0, at the first column
  std::int64_t ld = 0;
  const std::int32_t* ids = nullptr;
  std::int64_t count = 0;
};

/// Selects elements of rows: those where arg, with the same rows and columns, is the id.
struct SelectedBy {
  const std::int32_t* arg = nullptr;  ///< row 0, at the first column
  std::int64_t ld = 0;
  std::int32_t id = 0;
};

/// Maximum columns that are summed together, and the bytes of their sums, for any type.
inline constexpr int kSumColumns = 256;
inline constexpr int kSumBytes = 8 * kSumColumns;

/// Pairs of a row x and `rows` with a row of `edges` each: z = x + row + edge. edges may be null.
struct LeakyRows {
  const void* x;
  const void* a;
  RowList rows;
  const void* edges;
  std::int64_t edges_ld;
  double slope;
  std::int64_t columns;  ///< at most kSumColumns
  bool summed;           ///< edges have the type of sums
};

/// Rows of features of entries, and some columns of W^T.
struct FeatureRows {
  const void* data;
  std::int64_t ld, count;
  int features;
  const void* w;  ///< rows of kSumColumns numbers in the type of sums, one per feature
  std::int64_t columns;
};
/// Maximum columns of leaky_outer.
inline constexpr int kOuterColumns = 16;

/// Functions for one operand type and one result type.
struct RowMath {
  double (*read)(const void* list, std::int64_t i);     ///< reads from an operand
  void (*write)(void* list, std::int64_t i, double x);  ///< writes to a result
  /// Computes to[k] = x . row k over n columns.
  void (*dots)(const void* x, const RowList& rows, std::int64_t n, double* to);
  /// Computes to[k] = row k . row k.
  void (*squares)(const RowList& rows, std::int64_t n, double* to);
  /// Adds weights[k] * row k to the sums, which must be zero-initialized.
  void (*add)(const RowList& rows, const double* weights, int columns, std::byte* sums);
  /// Replaces the best numbers by larger products factors[k] * row k, and arg by the ids of their rows.
  /// `begin`: nothing was compared before. A NaN replaces numbers and is not replaced.
  void (*larger)(const RowList& rows, const double* factors, bool begin, int columns, std::byte* best,
                 std::int32_t* arg);
  /// Adds weights[k] * row k to the sums where arg of its row is the id.
  void (*add_where)(const RowList& rows, const SelectedBy& by, const double* weights, int columns,
                    std::byte* sums);
  /// Writes scale * sums to a row of the result.
  void (*store)(const std::byte* sums, double scale, int columns, void* row);
  /// Adds a . leaky_relu(z_k) to to[k].
  void (*leaky_dots)(const LeakyRows& rows, double* to);
  /// Adds weights[k] * a * leaky_relu'(z_k) to the sums, and weights[k] * leaky_relu(z_k) to the sums `by_a`
  /// unless null.
  void (*leaky_add)(const LeakyRows& rows, const double* weights, std::byte* sums, std::byte* by_a);
  /// Computes rows k of features times W^T, `columns` apart.
  void (*project)(const FeatureRows& rows, std::byte* sums);
  /// Adds weights[k] * leaky_relu'(z_k) * feature f of row k to row f of the sums, which has kOuterColumns
  /// numbers.
  void (*leaky_outer)(const LeakyRows& rows, const FeatureRows& features, const double* weights,
                      std::byte* sums);
  const void* one;  ///< a 1 of the operand type
  int operand_bytes, result_bytes;
  bool wide;  ///< statistics are f64
};

void softmax_rows(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void softmax_rows_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void reduce_max(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void reduce_min(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void reduce_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void reduce_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void layer_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void attend_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_attend_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void edge_attend(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void edge_attend_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_attend_features(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_attend_features_gradient(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_attend_features_gradient_t(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;
void gatv2_features_weights(const Task& task, const Chunk& chunk, const RowMath& math) noexcept;

}  // namespace sptile::runtime
