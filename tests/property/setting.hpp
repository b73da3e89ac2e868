// Parameters of a case: the matrix, the sizes, and the memory layout of the operands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/core/options.hpp"
#include "runtime/operation/operation.hpp"

namespace sptile::test {

/// Origin of the values of a run.
enum class RunValues { of_plan, shared, own };

struct Setting {
  std::string_view shape = "uneven";  ///< name in kShapes
  std::int64_t n = 32;
  std::int64_t m = 33;       ///< for operations with operands of m columns
  std::int64_t planned = 0;  ///< columns of the plan; 0: n
  std::int64_t pad = 0;      ///< elements between rows, and between heads
  std::int64_t shift = 0;    ///< elements between an aligned address and each operand
  std::int64_t heads = 1;
  bool interleaved = false;  ///< heads are interleaved in rows instead of consecutive
  bool permuted = false;     ///< the format has permuted rows
  bool bare = false;         ///< optional operands are omitted
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
  std::string_view note = {};  ///< distinguishes cases with equal parameters

  static constexpr int kFitted = -1;  ///< the parameter that a conversion chooses

  [[nodiscard]] std::int64_t planned_n() const { return planned != 0 ? planned : n; }
};

/// Returns a description such as "uneven n=32 pad=3", which --case matches.
std::string describe(const Setting& setting, const runtime::Operation& op);

}  // namespace sptile::test
