// Parallel or serial reductions; see parallel_loop.hpp.
#pragma once

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "formats/core/fork.hpp"

namespace sptile::parallel {

/// tbb::parallel_reduce, for results that do not depend on how the range is split.
template <class Range, class Value, class Body, class Join>
Value reduce(const Range& range, const Value& identity, const Body& body, const Join& join) {
  if (forks() == 0) return tbb::parallel_reduce(range, identity, body, join);
  return body(range, identity);
}

/// tbb::parallel_deterministic_reduce: the same bits on any number of threads.
template <class Range, class Value, class Body, class Join>
Value deterministic_reduce(Range range, const Value& identity, const Body& body, const Join& join) {
  if (forks() == 0) return tbb::parallel_deterministic_reduce(range, identity, body, join);
  if (!range.is_divisible()) return body(range, identity);
  Range right(range, tbb::split());  // `range` keeps the left half
  const Value left = deterministic_reduce(range, identity, body, join);
  return join(left, deterministic_reduce(right, identity, body, join));
}

}  // namespace sptile::parallel
