// What makes a case of an instance: the matrix, the sizes, and how the operands lie in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/core/options.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::test {

/// Where a run takes the values of the matrix from.
enum class RunValues { of_plan, shared, own };

struct Setting {
  std::string_view shape = "uneven";  ///< of kShapes
  std::int64_t n = 32;
  std::int64_t m = 33;       ///< of operations whose operands have m columns
  std::int64_t planned = 0;  ///< columns of the plan; 0: n
  std::int64_t pad = 0;      ///< elements between rows, and between heads
  std::int64_t shift = 0;    ///< elements between an aligned address and each operand
  std::int64_t heads = 1;
  bool beside = false;    ///< heads are side by side in rows, not one after the other
  bool permuted = false;  ///< the format has the rows in another order
  bool bare = false;      ///< optional operands are left out
  bool scaled = false;
  bool csr_order = false;  ///< numbers per entry are in CSR order
  double alpha = 1, beta = 0;
  RunValues values = RunValues::of_plan;
  runtime::Activation activation = runtime::Activation::none;
  runtime::Score score = runtime::Score::dot;
  bool transposed = false;  ///< W is m x n
  int parameter = kFitted;  ///< of the format, as Converter::from_csr_at takes it
  int device = 0;
  int threads = 2;

  static constexpr int kFitted = -1;  ///< the parameter that a conversion chooses
  std::string_view note = {};         ///< what else tells the case from others

  [[nodiscard]] std::int64_t planned_n() const { return planned != 0 ? planned : n; }
};

/// "uneven n=32 pad=3", as --case matches it.
std::string describe(const Setting& setting, const runtime::Operation& op);

}  // namespace sptile::test
