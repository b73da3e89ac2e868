#include "runtime/fork.hpp"

#include <omp.h>
#include <pthread.h>

namespace sptile::runtime {
namespace {

int fork_count = 0;  // written by the only thread of a new process
[[maybe_unused]] const int kCounting = ::pthread_atfork(nullptr, nullptr, [] { ++fork_count; });

}  // namespace

int forks() noexcept { return fork_count; }

int most_threads() noexcept { return fork_count > 0 ? 1 : omp_get_max_threads(); }

}  // namespace sptile::runtime
