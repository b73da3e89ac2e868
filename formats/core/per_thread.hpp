// Objects that each thread of a loop has for itself; see parallel_loop.hpp.
#pragma once

#include <tbb/enumerable_thread_specific.h>

#include <memory>

namespace sptile::parallel {

/// Not by TBB's allocator, which has locks that a fork copies.
template <class T>
using PerThread = tbb::enumerable_thread_specific<T, std::allocator<T>>;

}  // namespace sptile::parallel
