// Thread pool for loops. The caller works from the start and waits only for threads within an iteration; see
// docs/design/decisions/0032-threads.md.
#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cfenv>
#include <cstdint>

namespace sptile::runtime {

/// Condition under which a caller wakes sleeping workers. A wake-up costs the caller 2 to 5 us, and the
/// worker starts later still. Workers that spin after their last loop join at no cost.
enum class Wake {
  /// only if the last loop has just ended: the loop is part of a series, and woken workers stay awake for it
  in_series,
  /// also outside a series, unless a recently woken worker found no work because processors were busy
  usually,
  always
};

/// Threads of a loop.
struct LoopThreads {
  int max = 1;  ///< maximum number of threads, including the caller
  Wake wake = Wake::always;

  constexpr LoopThreads(int max_threads, Wake rule = Wake::always) : max(max_threads), wake(rule) {}
};

/// Runs loops of any number of callers with one set of workers. All members except stop and forget_workers
/// are thread-safe.
class ThreadPool {
 public:
  /// Maximum number of workers.
  static constexpr int kMaxWorkers = 1023;

  constexpr ThreadPool() = default;
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Calls body(i) once for each i in [0, count), in any order, on the calling thread and on up to
  /// `threads.most - 1` workers. Returns when all calls have returned; their effects are visible then.
  /// Workers use the caller's floating-point environment. Allocates nothing after the workers have started,
  /// and runs everything on the caller if they cannot be started. `body` must not throw, and may itself run
  /// loops.
  template <class Body>
  void run(const LoopThreads& threads, std::int64_t count, const Body& body) noexcept {
    run_loop(threads, count, {&call<Body>, &body});
  }

  /// Sets the number of workers that may be started, at most kMaxWorkers. Running workers stay.
  void allow(int workers) noexcept;

  /// Returns the number of started workers.
  [[nodiscard]] int started() const noexcept { return started_.load(std::memory_order_relaxed); }

  /// Ends the workers after their current loops. Later loops run on their callers only.
  void stop() noexcept;

  /// Resets the pool in a forked child, which has none of the parent's workers, whatever their state was.
  void forget_workers() noexcept;

 private:
  struct Loop {
    void (*call)(const void* body, std::int64_t i) = nullptr;
    const void* body = nullptr;
  };

  /// A running loop. A slot is free if its state is 0.
  struct alignas(64) Slot {
    std::atomic<std::uint32_t> state{0};  // kHeld, free seats, workers inside
    std::atomic<std::uint32_t> end{0};    // see wait_for_end
    Loop loop;
    std::uint32_t count = 0;
    std::fenv_t environment{};
    std::atomic<int> processor{-1};                      // processor on which the caller ran
    alignas(64) std::atomic<std::uint64_t> progress{0};  // finished iterations << 32 | taken iterations
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
  static bool run_iterations(Slot& slot) noexcept;
  static void wait_for_end(Slot& slot) noexcept;

  [[nodiscard]] std::uint64_t bit_of(const Slot& slot) const noexcept;
  [[nodiscard]] bool has_seat() const noexcept;
  [[nodiscard]] bool is_crowded() const noexcept;
  enum class Help { none, apart, on_processor_of_caller };
  Help help_one(unsigned first, bool woken) noexcept;
  void help(Slot& slot, bool woken) noexcept;
  static bool claim_seat(Slot& slot) noexcept;
  bool spin() noexcept;
  void sleep() noexcept;
  int claim_idle(int requested) noexcept;
  void wake(int claimed) noexcept;

  static constexpr int kSlots = 64;  // bits of `open_`; additional callers work alone
  std::array<Slot, kSlots> slots_;
  alignas(64) std::atomic<std::uint64_t> open_{0};  // bit mask of slots that may have free seats
  alignas(64) std::atomic<int> idle_{0};            // sleeping workers that no caller has claimed
  std::atomic<std::uint32_t> tokens_{0};            // one for each claimed worker that has not woken up yet
  alignas(64) std::atomic<int> spinning_{0}, busy_{0};
  std::atomic<std::int64_t> last_end_{0}, no_wake_before_{0};  // see may_wake; in ns of the steady clock
  std::atomic<int> allowed_{0}, started_{0};
  std::atomic<bool> starting_{false}, stopping_{false};
  std::array<pthread_t, kMaxWorkers> threads_{};
};

/// Returns the pool of the process. Workers start on first use, also in a forked child, and end when the
/// library is unloaded.
ThreadPool& thread_pool() noexcept;

}  // namespace sptile::runtime
