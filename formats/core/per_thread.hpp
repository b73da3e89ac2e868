// Thread-local objects of parallel loops; see parallel_loop.hpp.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <memory>

namespace sptile::parallel {

/// Avoids TBB's allocator, whose locks a forked process inherits.
template <class T>
using PerThread = tbb::enumerable_thread_specific<T, std::allocator<T>>;

}  // namespace sptile::parallel
