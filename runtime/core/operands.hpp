// Dense operands of a run, by index for any operation and by name for SpMM and SDDMM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {

inline constexpr int kMaxOperands = 16;

/// Types of the input operands and of the result, which may be wider. A single type sets both.
struct DenseTypes {
  DType operands = DType::f32;
  DType result = DType::f32;

  constexpr DenseTypes() = default;
  constexpr DenseTypes(DType both) : operands(both), result(both) {}  // NOLINT(google-explicit-constructor)
  /// Takes DType::none as result type for the type of the operands.
  constexpr DenseTypes(DType of_operands, DType of_result)
      : operands(of_operands), result(of_result == DType::none ? of_operands : of_result) {}

  friend constexpr bool operator==(const DenseTypes&, const DenseTypes&) = default;
};

/// Function that is applied to sums before they are written.
enum class Activation { none, relu };
inline constexpr std::string_view kActivationNames[] = {"none", "relu"};  ///< in the order of Activation

/// Attention score of row i of X and row j of Y.
enum class Score {
  dot,      ///< x . y (transformers)
  cosine,   ///< x . y / (|x| |y|) (AGNN)
  additive  ///< leaky_relu(x + y) of one number each, n = 1 (GAT)
};
inline constexpr std::string_view kScoreNames[] = {"dot", "cosine", "additive"};  ///< in the order of Score

/// Attributes of a plan except n. Each operation reads the ones that it supports.
struct Variant {
  std::int64_t m = 0;      ///< columns of operands with Width::m; 0: n of the plan
  std::int64_t heads = 1;  ///< products per run, each with its own operands
  Activation activation = Activation::none;
  Score score = Score::dot;
  bool transposed_weights = false;  ///< W is given as m x n
};

/// Columns and heads of a run.
struct RunSizes {
  std::int64_t n = 0, m = 0, heads = 1;
};

/// One operand, row-major. Only results are written.
struct Operand {
  void* data = nullptr;
  std::int64_t ld = 0;     ///< elements between rows; ignored for lists
  std::int64_t batch = 0;  ///< elements between heads; 0: contiguous
};

/// Arguments of a run; operands are in the order of Operation::operands. Trivial type, because files that are
/// compiled for an instruction set read it.
struct Operands {
  Operand dense[kMaxOperands] = {};
  double alpha = 1;
  double beta = 0;      ///< 0: the previous contents of the result are not read
  bool scaled = false;  ///< multiply by the values of A, for operations that support it
  double slope = 0.2;   ///< slope of Score::additive for negative arguments
  /// Values that replace those of A in this run, packed as the format of the plan stores them, with its type.
  /// Null: the values of the matrix.
  const void* values = nullptr;
  std::int64_t values_batch = 0;  ///< elements between the values of heads; 0: shared by all heads
  /// Zero-initialized device memory of workspace_bytes(plan), for concurrent runs of one plan on several
  /// streams; null: the plan's own.
  void* workspace = nullptr;
  std::size_t workspace_size = SIZE_MAX;  ///< bytes of `workspace`; the default skips the size check
  std::int64_t n = 0;  ///< columns of this run, at most those of the plan; 0: those of the plan
};

/// C = alpha * A * B + beta * C.
struct SpmmOperands {
  const void* b = nullptr;  ///< cols x n
  std::int64_t ldb = 0;     ///< elements between rows of B, >= n
  void* c = nullptr;        ///< rows x n, in original row order
  std::int64_t ldc = 0;
  double alpha = 1;
  double beta = 0;
  void* workspace = nullptr;  ///< as in Operands
  std::size_t workspace_size = SIZE_MAX;
  std::int64_t n = 0;  ///< as in Operands
};
/// Operand indices of SpMM.
inline constexpr int kSpmmB = 0, kSpmmC = 1;

/// out = alpha * (X Y^T) at the entries of A + beta * out.
struct SddmmOperands {
  const void* x = nullptr;  ///< rows x n, in original row order
  std::int64_t ldx = 0;     ///< elements between rows of X, >= n
  const void* y = nullptr;  ///< cols x n
  std::int64_t ldy = 0;
  /// One number per entry of A, in packed order: the order in which the planned format stores its values (its
  /// value arrays concatenated). refresh_packed accepts it as new values of a matrix with the same format.
  /// Must not overlap X or Y.
  void* out = nullptr;
  double alpha = 1;
  double beta = 0;
  bool scaled = false;  ///< multiply each dot product by the value of its entry
  std::int64_t n = 0;   ///< columns of X and Y in this run, as in Operands
};
inline constexpr int kSddmmX = 0, kSddmmY = 1, kSddmmOut = 2;

inline Operands to_operands(const SpmmOperands& o) {
  return {.dense = {{const_cast<void*>(o.b), o.ldb}, {o.c, o.ldc}},
          .alpha = o.alpha,
          .beta = o.beta,
          .workspace = o.workspace,
          .workspace_size = o.workspace_size,
          .n = o.n};
}

inline Operands to_operands(const SddmmOperands& o) {
  return {.dense = {{const_cast<void*>(o.x), o.ldx}, {const_cast<void*>(o.y), o.ldy}, {o.out, 0}},
          .alpha = o.alpha,
          .beta = o.beta,
          .scaled = o.scaled,
          .n = o.n};
}

inline SpmmOperands to_spmm(const Operands& o) {
  return {o.dense[kSpmmB].data,
          o.dense[kSpmmB].ld,
          o.dense[kSpmmC].data,
          o.dense[kSpmmC].ld,
          o.alpha,
          o.beta,
          o.workspace,
          o.workspace_size,
          o.n};
}

inline SddmmOperands to_sddmm(const Operands& o) {
  return {o.dense[kSddmmX].data,
          o.dense[kSddmmX].ld,
          o.dense[kSddmmY].data,
          o.dense[kSddmmY].ld,
          o.dense[kSddmmOut].data,
          o.alpha,
          o.beta,
          o.scaled,
          o.n};
}

}  // namespace sptile::runtime
