#include "runtime/plan/run_threads.hpp"

#include <algorithm>
#include <atomic>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {
namespace {

// Measured on an AMD EPYC (Zen 4), see docs/design/decisions/0032-threads.md.
constexpr double kNonzero = 0.35;  // ns per nonzero: its column, value and share of loop overhead
constexpr double kByte = 0.012;    // ns per byte that is read and multiplied, or written

constexpr double kPerThread = 15e3;  // minimum ns of work per thread
constexpr double kUsually = 100e3;   // ns of work that justify waking a worker that may find nothing to do
constexpr double kAlways = 1e6;

std::atomic<bool> follow_work{true};

/// Returns the elements that a run accesses in an operand: each nonzero reads a row of operands with
/// Extent::cols, and each row of the matrix reads all weights.
double elements(const OperandSpec& spec, const OperandSizes& sizes) {
  const OperandShape shape = shape_of(spec, sizes);
  const auto width = static_cast<double>(shape.width);
  switch (spec.extent) {
    case Extent::cols:
      return static_cast<double>(sizes.nnz) * width;
    case Extent::inner:
      return static_cast<double>(sizes.rows) * static_cast<double>(shape.rows) * width;
    default:
      return static_cast<double>(shape.rows) * width;
  }
}

}  // namespace

double estimated_time(const Operation& op, const OperandSizes& sizes, const DenseTypes& types) {
  double bytes = 0;
  for (const OperandSpec& spec : op.operands)
    bytes += elements(spec, sizes) * static_cast<double>(std::max(size_of(types.operands), sizeof(float)));
  return static_cast<double>(sizes.run.heads) * (kNonzero * static_cast<double>(sizes.nnz) + kByte * bytes);
}

void set_threads_follow_work(bool follow) noexcept { follow_work.store(follow, std::memory_order_relaxed); }

LoopThreads threads_for(double nanoseconds, int max) {
  if (!follow_work.load(std::memory_order_relaxed)) return max;
  const double worth = std::clamp(nanoseconds / kPerThread, 1.0, static_cast<double>(std::max(max, 1)));
  const Wake wake = nanoseconds >= kAlways    ? Wake::always
                    : nanoseconds >= kUsually ? Wake::usually
                                              : Wake::in_series;
  return {static_cast<int>(worth), wake};
}

}  // namespace sptile::runtime
