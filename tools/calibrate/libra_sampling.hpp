// Measurement of Libra's formats, split with several thresholds.
#pragma once

#include <string>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/core/buffer.hpp"
#include "tools/calibrate/sampling.hpp"

namespace sptile::tools {

/// A matrix, split with each threshold.
class LibraSampler {
 public:
  explicit LibraSampler(const SamplingPlan& plan) : plan_(plan) {}

  /// Splits the matrix for the kernels of the plan that support its type. O(nnz) per threshold.
  Status set_matrix(const formats::CsrView& a);

  /// Clears the matrix; measure() then does nothing.
  void forget() { splits_.clear(); }

  /// Measures with the operands of the plan's bench, which must belong to `op`.
  Status measure(const std::string& matrix, const runtime::Operation& op, std::int64_t n,
                 Measurements& found);

 private:
  struct Split {
    const runtime::Operation* op;
    std::string_view kernel;  // kernel whose threshold is fitted; empty: none
    bool modes;               // measure the modes of Libra's balance
    int threshold;
    formats::FormatData data;
    formats::Array entries;  // list position of each entry, for results that are lists
  };

  [[nodiscard]] bool needs_threshold(const runtime::Multiplicand& a, std::string_view kernel) const;
  [[nodiscard]] bool needs_modes(const runtime::Multiplicand& a) const;
  Result<Measurement> run(const Split& split, std::string_view kernel);
  Status measure_streams(const Split& split, Measurements& found);

  const SamplingPlan& plan_;
  std::vector<Split> splits_;
};

}  // namespace sptile::tools
