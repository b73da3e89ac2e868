// How a long loop tells how far it is, and learns that it should stop.
#pragma once

#include <atomic>
#include <cstdint>

namespace sptile {

/// Counts one phase of work. Loops add to it, one painter (tools/cli/progress_bar) reads it; every member is
/// thread-safe. Functions take `Progress*`, where nullptr means that nobody watches.
struct Progress {
  std::atomic<const char*> phase{""};                 ///< string literal, for example "read"
  std::atomic<std::int64_t> done{0};                  ///< units finished
  std::atomic<std::int64_t> total{0};                 ///< units in the phase; 0 when unknown
  std::atomic<std::int64_t> steps_done{0}, steps{0};  ///< of a job of many phases; 0 steps: it has none
  std::atomic<bool> cancelled{false};  ///< set from outside; loops return Errc::io "cancelled" soon after

  void begin(const char* name, std::int64_t units) {
    done.store(0);
    total.store(units);
    phase.store(name);
  }
};

inline void begin(Progress* p, const char* name, std::int64_t units) {
  if (p != nullptr) p->begin(name, units);
}
inline void advance(Progress* p, std::int64_t units) {
  if (p != nullptr) p->done.fetch_add(units, std::memory_order_relaxed);
}
[[nodiscard]] inline bool cancelled(const Progress* p) {
  return p != nullptr && p->cancelled.load(std::memory_order_relaxed);
}

}  // namespace sptile
