// Futex wait and wake within a process.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace sptile::runtime {

/// Sleeps while `word` has the value `expected`. May return early.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes up to `max` threads that sleep on `word`.
inline void futex_wake(const std::atomic<std::uint32_t>& word, int max) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, max, nullptr, nullptr, 0);
}

}  // namespace sptile::runtime
