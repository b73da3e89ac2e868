#include "runtime/fork.hpp"

#include <omp.h>

namespace sptile::runtime {

int most_threads() noexcept { return forks() > 0 ? 1 : omp_get_max_threads(); }

}  // namespace sptile::runtime
