// Parallel loops of oneTBB that run serially in a process created by fork, where oneTBB's locks may stay
// locked by threads that do not exist. Formats and orderings use oneTBB only through these headers.
#pragma once

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <concepts>

#include "formats/core/fork.hpp"

namespace sptile::parallel {

/// Returns the maximum number of threads of a loop.
inline int max_threads() { return forks() > 0 ? 1 : tbb::this_task_arena::max_concurrency(); }

/// Calls body(range) for subranges of at least the grain size.
template <class Value, class Body>
void in_pieces(const tbb::blocked_range<Value>& range, const Body& body) {
  const auto grain = static_cast<Value>(range.grainsize());
  for (Value first = range.begin(); first < range.end();) {
    const Value last = range.end() - first > grain ? first + grain : range.end();
    body(tbb::blocked_range<Value>(first, last, range.grainsize()));
    first = last;
  }
}

/// tbb::parallel_for.
template <std::integral Index, class Body, class... Partitioner>
void loop(Index first, Index last, const Body& body, const Partitioner&... partitioner) {
  if (forks() == 0) return tbb::parallel_for(first, last, body, partitioner...);
  for (; first < last; ++first) body(first);
}
template <class Value, class Body, class... Partitioner>
void loop(const tbb::blocked_range<Value>& range, const Body& body, const Partitioner&... partitioner) {
  if (forks() == 0) return tbb::parallel_for(range, body, partitioner...);
  in_pieces(range, body);
}

/// tbb::parallel_invoke.
template <class... Tasks>
void invoke(const Tasks&... tasks) {
  if (forks() == 0) return tbb::parallel_invoke(tasks...);
  (tasks(), ...);
}

}  // namespace sptile::parallel
