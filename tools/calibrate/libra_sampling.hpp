// Measures the formats of Libra split with each of some thresholds.
#pragma once

#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/buffer.hpp"
#include "tools/calibrate/sampling.hpp"

namespace sptile::tools {

/// One matrix, split in every way.
class LibraSampler {
 public:
  explicit LibraSampler(const SamplingPlan& plan) : plan_(plan) {}

  /// Splits the matrix for the kernels that the plan wants and that support its type. O(nnz) for each
  /// threshold.
  Status set_matrix(const formats::CsrView& a);

  /// Nothing is measured until there is another matrix.
  void forget() { splits_.clear(); }

  /// Measures with the operands of the plan's bench, which are those of an operation.
  Status measure(const std::string& matrix, const runtime::Operation& op, std::int64_t n,
                 Measurements& found);

 private:
  struct Split {
    const runtime::Operation* op;
    std::string_view kernel;  // whose threshold is fitted; empty: none
    bool modes;               // those of Libra's balance are measured
    int threshold;
    formats::FormatData data;
    formats::Array entries;  // where the numbers of a result belong that lists entries
  };

  [[nodiscard]] bool wants_threshold(const runtime::Multiplicand& a, std::string_view kernel) const;
  [[nodiscard]] bool wants_modes(const runtime::Multiplicand& a) const;
  Result<Measurement> run(const Split& split, std::string_view kernel);
  Status measure_streams(const Split& split, Measurements& found);

  const SamplingPlan& plan_;
  std::vector<Split> splits_;
};

}  // namespace sptile::tools
