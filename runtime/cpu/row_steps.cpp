#include "runtime/cpu/row_steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sptile::runtime {
namespace {

constexpr std::int64_t kSample = 1 << 16;
constexpr std::int64_t kRunSample = 1 << 12;
constexpr std::int64_t kRun = 8;  ///< minimum consecutive columns

/// Changes of the step count per row that branch predictors were measured to learn from previous runs.
constexpr double kRemembered = 20e3;

/// Nanoseconds on an AMD EPYC (Zen 4); docs/design/decisions/0031-few-columns.md.
struct StepCost {
  std::int64_t nonzeros;
  double row, step;
};
constexpr StepCost kLarge = {8, 0.8, 1.7}, kSmall = {4, 0.9, 0.95};
constexpr double kManySteps = 3;
constexpr double kMisprediction = 6.0, kRememberedTurn = 2.0;

std::int64_t length(const formats::CsrView& csr, std::int64_t row) {
  const auto r = static_cast<std::size_t>(row);
  return csr.row_ptr[r + 1] - csr.row_ptr[r];
}

/// Estimates the time of rows [first, last). Each row with another number of steps than the previous one may
/// cause a branch misprediction.
class Estimate {
 public:
  explicit Estimate(const StepCost& cost) : cost_(cost) {}

  void add(std::int64_t nonzeros) {
    const std::int64_t steps = std::max<std::int64_t>(1, (nonzeros + cost_.nonzeros - 1) / cost_.nonzeros);
    steps_ += steps;
    turns_ += steps != before_ ? 1 : 0;
    before_ = steps;
    ++rows_;
  }
  [[nodiscard]] double steps_of_row() const {
    return static_cast<double>(steps_) / static_cast<double>(rows_);
  }
  /// Returns the estimate for a matrix with this number of rows.
  [[nodiscard]] double time(std::int64_t rows) const {
    const auto sampled = static_cast<double>(rows_), turns = static_cast<double>(turns_);
    const bool remembered = turns * static_cast<double>(rows) / sampled < kRemembered;
    return cost_.row * sampled + cost_.step * static_cast<double>(steps_) +
           (remembered ? kRememberedTurn : kMisprediction) * turns;
  }

 private:
  StepCost cost_;
  std::int64_t rows_ = 0, steps_ = 0, turns_ = 0, before_ = 1;
};

/// Calls f(row) for about `sample` rows in groups of 64 that are spread over the matrix.
template <class F>
void for_sample(std::int64_t rows, std::int64_t sample, const F& f) {
  constexpr std::int64_t kStretch = 64;
  const std::int64_t stride = std::max(kStretch, rows / std::max<std::int64_t>(1, sample / kStretch));
  for (std::int64_t first = 0; first < rows; first += stride)
    for (std::int64_t row = first; row < std::min(rows, first + kStretch); ++row) f(row);
}

/// Returns whether loading consecutive columns at once saves more than the branch that detects them costs.
bool has_runs(const formats::CsrView& csr) {
  constexpr double kGain = 0.9;
  std::int64_t rows = 0, runs = 0, turns = 0;
  bool before = false;
  for_sample(csr.rows, kRunSample, [&](std::int64_t row) {
    ++rows;
    const std::int32_t* const col = csr.col_idx.data() + csr.row_ptr[static_cast<std::size_t>(row)];
    for (std::int64_t k = 0; k + kRun < length(csr, row); k += kRun) {
      const bool is_run = col[k + kRun - 1] - col[k] == kRun - 1;
      runs += is_run ? 1 : 0;
      turns += is_run != before ? 1 : 0;
      before = is_run;
    }
  });
  const double all_turns =
      static_cast<double>(turns) * static_cast<double>(csr.rows) / static_cast<double>(rows);
  return kGain * static_cast<double>(runs) >
         (all_turns < kRemembered ? kRememberedTurn / 10 : kMisprediction) * static_cast<double>(turns);
}

}  // namespace

RowSteps choose_row_steps(const formats::CsrView& csr) {
  if (csr.rows == 0) return {};
  Estimate large(kLarge), small(kSmall);
  for_sample(csr.rows, kSample, [&](std::int64_t row) {
    const std::int64_t nonzeros = length(csr, row);
    large.add(nonzeros);
    small.add(nonzeros);
  });
  if (small.time(csr.rows) < large.time(csr.rows)) return {.small = true};
  return {.are_many = large.steps_of_row() >= kManySteps, .runs = has_runs(csr)};
}

}  // namespace sptile::runtime
