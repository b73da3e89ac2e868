// Runs code with a given number of threads, also with more than the machine has processors.
#pragma once

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

namespace sptile::tests {

template <class F>
auto with_threads(int threads, const F& f) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(threads));
  return tbb::task_arena(threads).execute(f);
}

}  // namespace sptile::tests
