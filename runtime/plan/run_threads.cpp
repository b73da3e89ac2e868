#include "runtime/plan/run_threads.hpp"

#include <algorithm>
#include <atomic>

#include "formats/core/dtype.hpp"

namespace sptile::runtime {
namespace {

// Of an AMD EPYC (Zen 4), see docs/design/decisions/0032-threads.md.
constexpr double kNonzero = 0.35;  // ns: its column, value and part in loops
constexpr double kByte = 0.012;    // ns: one that is read and multiplied, or written

constexpr double kPerThread = 15e3;  // ns of work that are worth a thread
constexpr double kUsually = 100e3;   // ns of work of which waking a worker in vain would be a small part
constexpr double kAlways = 1e6;

std::atomic<bool> follow_work{true};

/// Elements that a run reads or writes in an operand: each nonzero takes a row of those with Extent::cols,
/// and each row of the matrix all weights.
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

LoopThreads threads_for(double nanoseconds, int most) {
  if (!follow_work.load(std::memory_order_relaxed)) return most;
  const double worth = std::clamp(nanoseconds / kPerThread, 1.0, static_cast<double>(std::max(most, 1)));
  const Wake wake = nanoseconds >= kAlways    ? Wake::always
                    : nanoseconds >= kUsually ? Wake::usually
                                              : Wake::in_series;
  return {static_cast<int>(worth), wake};
}

}  // namespace sptile::runtime
