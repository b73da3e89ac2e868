// Number of threads of a run, chosen by its work.
#pragma once

#include "runtime/operation/operation.hpp"
#include "runtime/threads/pool.hpp"

namespace sptile::runtime {

/// Estimates the time of a run of all heads on one thread, in nanoseconds, from its nonzeros and from the
/// bytes of dense operands that it accesses. A lower estimate: rows of B are assumed to be in a near cache.
double estimated_time(const Operation& op, const OperandSizes& sizes, const DenseTypes& types);

/// Returns the threads of a run that takes `nanoseconds` on one thread: at most `max`, and few enough that
/// the work of each outweighs the cost of starting it.
LoopThreads threads_for(double nanoseconds, int max);

/// Makes threads_for always return `max` threads if `follow` is false. For tests with small matrices.
void set_threads_follow_work(bool follow) noexcept;

}  // namespace sptile::runtime
