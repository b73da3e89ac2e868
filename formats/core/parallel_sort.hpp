// Parallel or serial sort; see parallel_loop.hpp.
#pragma once

#include <tbb/parallel_sort.h>

#include <algorithm>
#include <functional>

#include "formats/core/fork.hpp"

namespace sptile::parallel {

/// tbb::parallel_sort; not stable.
template <class Iterator, class Less = std::less<>>
void sort(Iterator first, Iterator last, const Less& less = {}) {
  if (forks() == 0) return tbb::parallel_sort(first, last, less);
  std::sort(first, last, less);
}

}  // namespace sptile::parallel
