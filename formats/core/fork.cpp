#include "formats/core/fork.hpp"

#include <pthread.h>

namespace sptile {
namespace {

int fork_count = 0;  // written only by the single thread of a new process
[[maybe_unused]] const int kCounting = ::pthread_atfork(nullptr, nullptr, [] { ++fork_count; });

}  // namespace

int forks() noexcept { return fork_count; }

}  // namespace sptile
