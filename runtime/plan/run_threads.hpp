// The number of threads of a run follows its work.
#pragma once

#include "runtime/operation/operation.hpp"
#include "runtime/threads/pool.hpp"

namespace sptile::runtime {

/// Estimates the time of a run of all heads on one thread, in nanoseconds, from its nonzeros and from the
/// bytes of dense operands that it reads and writes. Rather too low: rows of B are assumed to be in a near
/// cache.
double estimated_time(const Operation& op, const OperandSizes& sizes, const DenseTypes& types);

/// Returns the threads of a run that takes `nanoseconds` on one thread: at most `most`, and few enough that
/// each has work for longer than it takes to get it.
LoopThreads threads_for(double nanoseconds, int most);

/// With false, threads_for always returns `most` threads. For tests, whose matrices are small.
void set_threads_follow_work(bool follow) noexcept;

}  // namespace sptile::runtime
