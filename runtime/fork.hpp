// What a process made by fork lacks: the threads of OpenMP and the CUDA context stay with its parent.
#pragma once

#include "formats/fork.hpp"

namespace sptile::runtime {

/// The threads that a parallel region may have: all that OpenMP gives, one after a fork. GNU's OpenMP would
/// wait for ever for threads that only the parent has, whoever started them.
int most_threads() noexcept;

}  // namespace sptile::runtime
