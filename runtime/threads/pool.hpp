// Threads that help callers with loops. The caller works from the start, and waits only for threads that are
// in the middle of an iteration; see docs/design/decisions/0032-threads.md.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <cstdint>

namespace sptile::runtime {

/// When a caller wakes workers that sleep. This costs the caller 2 to 5 us, and workers arrive later still;
/// those that spin after their last loop take part for nothing.
enum class Wake {
  in_series,  ///< if the last loop has just ended: more are to come, and awake workers stay for them
  usually,    ///< the same, or if no worker has recently been woken in vain, because processors were busy
  always
};

/// Threads of a loop.
struct LoopThreads {
  int most = 1;  ///< with the caller
  Wake wake = Wake::always;

  constexpr LoopThreads(int most_threads, Wake rule = Wake::always) : most(most_threads), wake(rule) {}
};

/// Runs loops of any number of callers with one set of workers. All members may be called at any time by any
/// thread, except stop and forget_workers.
class ThreadPool {
 public:
  /// Upper bound of the number of workers.
  static constexpr int kMostWorkers = 1023;

  constexpr ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls body(i) once for each i in [0, count), in any order, on the calling thread and on up to
  /// `threads.most - 1` workers. Returns when all calls have returned; their effects are visible then.
  /// Workers have the caller's rounding mode and other floating-point settings. Allocates nothing after the
  /// workers have started, and runs everything on the caller where they cannot be started. `body` must not
  /// throw, and may itself run loops.
  template <class Body>
  void run(const LoopThreads& threads, std::int64_t count, const Body& body) noexcept {
    run_loop(threads, count, {&call<Body>, &body});
  }

  /// Sets the number of workers that may be started: at most kMostWorkers. Those that have been started stay.
  void allow(int workers) noexcept;

  /// The number of workers that have been started.
  [[nodiscard]] int started() const noexcept { return started_.load(std::memory_order_relaxed); }

  /// Ends the workers after their current loops. Callers then work alone.
  void stop() noexcept;

  /// Makes the pool as new. For a process made by fork, which has no workers: those of its parent are not in
  /// it, whatever they did at that time.
  void forget_workers() noexcept;

 private:
  struct Loop {
    void (*call)(const void* body, std::int64_t i) = nullptr;
    const void* body = nullptr;
  };

  /// A running loop. A slot is free when its state is 0.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> state{0};  // kHeld, seats left for workers, workers inside
    std::atomic<std::uint32_t> end{0};    // see wait_for_end
    Loop loop;
    std::uint32_t count = 0;
    std::fenv_t environment{};
    std::atomic<int> processor{-1};                      // that the caller was on
    alignas(64) std::atomic<std::uint64_t> progress{0};  // iterations done << 32 | iterations taken
  };

  template <class Body>
  static void call(const void* body, std::int64_t i) {
    (*static_cast<const Body*>(body))(i);
  }
  static void* serve(void* pool);

  void run_loop(const LoopThreads& threads, std::int64_t count, const Loop& loop) noexcept;
  Slot* claim() noexcept;
  void open(Slot& slot, int helpers) noexcept;
  void call_workers(int helpers, Wake rule) noexcept;
  [[nodiscard]] bool may_wake(Wake rule) const noexcept;
  void start(int missing) noexcept;
  bool start_one() noexcept;
  void close(Slot& slot) noexcept;
  static bool take_iterations(Slot& slot) noexcept;
  static void wait_for_end(Slot& slot) noexcept;

  [[nodiscard]] std::uint64_t bit_of(const Slot& slot) const noexcept;
  [[nodiscard]] bool has_seat() const noexcept;
  [[nodiscard]] bool is_crowded() const noexcept;
  enum class Help { none, apart, on_processor_of_caller };
  Help help_one(unsigned first, bool woken) noexcept;
  void help(Slot& slot, bool woken) noexcept;
  static bool take_seat(Slot& slot) noexcept;
  bool spin() noexcept;
  void sleep() noexcept;
  int claim_idle(int wanted) noexcept;
  void wake(int claimed) noexcept;

  static constexpr int kSlots = 64;  // of `open_`: callers beyond that work alone
  std::array<Slot, kSlots> slots_;
  alignas(64) std::atomic<std::uint64_t> open_{0};  // slots that may have seats
  alignas(64) std::atomic<int> idle_{0};            // workers asleep that no caller has claimed
  std::atomic<std::uint32_t> tokens_{0};            // one for each claimed worker that has not woken up yet
  alignas(64) std::atomic<int> spinning_{0}, busy_{0};
  std::atomic<std::int64_t> last_end_{0}, no_wake_before_{0};  // see may_wake; ns of the steady clock
  std::atomic<int> allowed_{0}, started_{0};
  std::atomic<bool> starting_{false}, stopping_{false};
  std::array<pthread_t, kMostWorkers> threads_{};
};

/// The pool of the process. Its workers start when they are first needed, also in a process made by fork, and
/// end when the library is unloaded.
ThreadPool& thread_pool() noexcept;

}  // namespace sptile::runtime
