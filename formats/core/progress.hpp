// Progress reports and cancellation of long loops.
#pragma once

#include <atomic>
#include <cstdint>

namespace sptile {

/// Progress of the current phase. Loops add to it and tools/cli/progress_bar reads it; every member is
/// thread-safe. Functions accept a null `Progress*` if no progress is needed.
struct Progress {
  std::atomic<const char*> phase{""};                 ///< string literal, for example "read"
  std::atomic<std::int64_t> done{0};                  ///< finished units
  std::atomic<std::int64_t> total{0};                 ///< units in the phase; 0 if unknown
  std::atomic<std::int64_t> steps_done{0}, steps{0};  ///< phases of a job; steps is 0 if the job has a single
                                                      ///< phase
  std::atomic<bool> cancelled{false};  ///< set by another thread; loops then soon return Errc::io "cancelled"

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
