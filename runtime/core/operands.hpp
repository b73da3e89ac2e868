// The dense operands of a run: as any operation takes them, and by name for those of SpMM and SDDMM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {

inline constexpr int kMaxOperands = 10;

/// Types of the operands that are read and of the result, which may be wider. One type stands for both.
struct DenseTypes {
  DType operands = DType::f32;
  DType result = DType::f32;

  constexpr DenseTypes() = default;
  constexpr DenseTypes(DType both) : operands(both), result(both) {}  // NOLINT(google-explicit-constructor)
  /// DType::none: the result has the type of the operands.
  constexpr DenseTypes(DType of_operands, DType of_result)
      : operands(of_operands), result(of_result == DType::none ? of_operands : of_result) {}

  friend constexpr bool operator==(const DenseTypes&, const DenseTypes&) = default;
};

/// What is done to sums before they are written.
enum class Activation { none, relu };
inline constexpr std::string_view kActivationNames[] = {"none", "relu"};  ///< in that order

/// How much row i of A attends to column j, from row i of X and row j of Y.
enum class Score {
  dot,      ///< x . y (transformers)
  cosine,   ///< x . y / (|x| |y|) (AGNN)
  additive  ///< leaky_relu(x + y) of one number each (GAT)
};
inline constexpr std::string_view kScoreNames[] = {"dot", "cosine", "additive"};  ///< in that order

/// What is decided when planning beside n; operations read what concerns them.
struct Variant {
  std::int64_t m = 0;      ///< columns of operands with Width::m; 0: n of the plan
  std::int64_t heads = 1;  ///< products of one run, each with operands of its own
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
  std::int64_t ld = 0;     ///< elements between rows; not read of a list of numbers
  std::int64_t batch = 0;  ///< elements between heads; 0: they follow each other without gaps
};

/// Everything a run is given, operands in the order of Operation::operands. Plain data: files that are
/// compiled for an instruction set read it.
struct Operands {
  Operand dense[kMaxOperands] = {};
  double alpha = 1;
  double beta = 0;      ///< 0: the result is only written, its old contents (NaN too) do not matter
  bool scaled = false;  ///< of operations that may multiply by the values of A
  double slope = 0.2;   ///< of Score::additive below 0
  /// Values of A for this run, packed as the format of the plan stores them, of its type, for each head or
  /// for all; null: those of the matrix.
  const void* values = nullptr;
  std::int64_t values_batch = 0;  ///< elements between those of heads; 0: the same for all
  /// Device scratch of workspace_bytes(plan) zeroed bytes, for a run beside others of the same plan on other
  /// streams; null: the plan's own.
  void* workspace = nullptr;
  std::size_t workspace_size = SIZE_MAX;  ///< its bytes; the default: enough, the caller knows
  std::int64_t n = 0;  ///< columns of this run, at most those of the plan; 0: those of the plan
};

/// C = alpha * A * B + beta * C.
struct SpmmOperands {
  const void* b = nullptr;  ///< cols x n
  std::int64_t ldb = 0;     ///< elements between rows of B, >= n
  void* c = nullptr;        ///< rows x n, in the original row order
  std::int64_t ldc = 0;
  double alpha = 1;
  double beta = 0;
  void* workspace = nullptr;  ///< as in Operands
  std::size_t workspace_size = SIZE_MAX;
  std::int64_t n = 0;  ///< as in Operands
};
/// Places of its operands.
inline constexpr int kSpmmB = 0, kSpmmC = 1;

/// out = alpha * (X Y^T) at the entries of A + beta * out.
struct SddmmOperands {
  const void* x = nullptr;  ///< rows x n, in the original row order
  std::int64_t ldx = 0;     ///< elements between rows of X, >= n
  const void* y = nullptr;  ///< cols x n
  std::int64_t ldy = 0;
  /// One number per entry of A, in the order in which the planned format stores its values (its value arrays
  /// one after the other), so that they are the values of a matrix of the same format: refresh_packed gives
  /// them to an SpMM plan. Must not overlap X or Y.
  void* out = nullptr;
  double alpha = 1;
  double beta = 0;
  bool scaled = false;  ///< each dot product is multiplied by the value of its entry, too
  std::int64_t n = 0;   ///< features of this run, as in Operands
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
