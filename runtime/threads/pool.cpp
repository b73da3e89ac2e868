#include "runtime/threads/pool.hpp"

#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

#include "runtime/threads/futex.hpp"
#include "runtime/threads/processors.hpp"

namespace sptile::runtime {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::microseconds kWorkerSpin{20};  // spinning time of a worker after its last loop
// spinning time of a caller while workers finish an iteration
constexpr std::chrono::microseconds kCallerSpin{20};
constexpr int kPausesPerLook = 16;  // pause instructions between two reads of the clock
constexpr std::chrono::nanoseconds kSeries = kWorkerSpin;  // maximum time between two loops of a series
// no wake-ups for this time after one that found no iteration left
constexpr std::chrono::milliseconds kNoWake{1};
constexpr int kWakes = 2;  // wake-ups per thread; woken workers wake the others

// Bits of Slot::state: held by the caller; free seats for workers; workers that may still read the slot.
constexpr std::uint32_t kHeld = 1U << 31, kSeat = 1U << 16, kSeats = kHeld - kSeat, kInside = kSeat - 1;
static_assert(ThreadPool::kMaxWorkers < static_cast<int>(kSeats / kSeat));

// Increments of Slot::progress.
constexpr std::uint64_t kTaken = 1, kDone = std::uint64_t{1} << 32;

// Values of Slot::end.
constexpr std::uint32_t kRunning = 0, kCallerAsleep = 1, kEnded = 2;

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb" ::: "memory");  // `yield` is a no-op on most cores
#endif
}

std::int64_t nanoseconds_now() noexcept {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

/// Spins until `ready()` or until the time is over. Returns the last `ready()`.
template <class Ready>
bool spin_until(std::chrono::microseconds max, const Ready& ready) noexcept {
  const Clock::time_point begin = Clock::now();
  do {
    for (int i = 0; i < kPausesPerLook; ++i) {
      if (ready()) return true;
      pause();
    }
  } while (Clock::now() - begin < max);
  return ready();
}

/// Creates a thread that may run on all processors of the process, even if the calling thread is bound.
bool create_thread(pthread_t& thread, void* (*function)(void*), void* argument) noexcept {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  const cpu_set_t mask = process_mask();
  if (CPU_COUNT(&mask) > 0) ::pthread_attr_setaffinity_np(&attributes, sizeof mask, &mask);
  const bool good = ::pthread_create(&thread, &attributes, function, argument) == 0;
  ::pthread_attr_destroy(&attributes);
  return good;
}

}  // namespace

void ThreadPool::run_loop(const LoopThreads& threads, std::int64_t count, const Loop& loop) noexcept {
  constexpr std::int64_t kMaxCounted = std::numeric_limits<std::int32_t>::max();
  Slot* const slot = threads.max > 1 && count > 1 && count < kMaxCounted ? claim() : nullptr;
  if (slot == nullptr) {
    for (std::int64_t i = 0; i < count; ++i) loop.call(loop.body, i);
    return;
  }
  slot->loop = loop;
  slot->count = static_cast<std::uint32_t>(count);
  std::fegetenv(&slot->environment);
  slot->processor.store(::sched_getcpu(), std::memory_order_relaxed);
  slot->end.store(kRunning, std::memory_order_relaxed);
  slot->progress.store(0, std::memory_order_relaxed);
  const int helpers = static_cast<int>(std::min<std::int64_t>({threads.max, count, kMaxWorkers + 1})) - 1;
  open(*slot, helpers);
  call_workers(helpers, threads.wake);
  const bool all_done = run_iterations(*slot);
  open_.fetch_and(~bit_of(*slot), std::memory_order_relaxed);
  if (!all_done) wait_for_end(*slot);
  close(*slot);
  last_end_.store(nanoseconds_now(), std::memory_order_relaxed);
}

std::uint64_t ThreadPool::bit_of(const Slot& slot) const noexcept {
  return std::uint64_t{1} << (&slot - slots_.data());
}

/// Claims a free slot; null if there is none.
ThreadPool::Slot* ThreadPool::claim() noexcept {
  if (allowed_.load(std::memory_order_relaxed) == 0) return nullptr;
  for (Slot& slot : slots_) {
    std::uint32_t free = 0;
    if (slot.state.load(std::memory_order_relaxed) == 0 &&
        slot.state.compare_exchange_strong(free, kHeld, std::memory_order_acquire))
      return &slot;
  }
  return nullptr;
}

/// Publishes a filled slot to the workers.
void ThreadPool::open(Slot& slot, int helpers) noexcept {
  slot.state.store(kHeld + static_cast<std::uint32_t>(helpers) * kSeat, std::memory_order_release);
  open_.fetch_or(bit_of(slot), std::memory_order_seq_cst);
}

/// Frees the slot when the last worker has left it.
void ThreadPool::close(Slot& slot) noexcept { slot.state.fetch_and(kInside, std::memory_order_release); }

/// Runs iterations until none is left. Returns true on the thread that finished the last one. Finishing an
/// iteration and taking the next is one atomic step, so the caller never waits for a thread between the two.
bool ThreadPool::run_iterations(Slot& slot) noexcept {
  for (std::uint64_t step = kTaken;; step = kTaken + kDone) {
    const std::uint64_t before = slot.progress.fetch_add(step, std::memory_order_acq_rel);
    const auto i = static_cast<std::uint32_t>(before);
    if (i >= slot.count) return step != kTaken && (before + step) >> 32 == slot.count;
    slot.loop.call(slot.loop.body, i);
  }
}

/// Waits until all iterations have finished. Spins first, because most iterations are short.
void ThreadPool::wait_for_end(Slot& slot) noexcept {
  const auto ended = [&slot] { return slot.progress.load(std::memory_order_acquire) >> 32 == slot.count; };
  if (spin_until(kCallerSpin, ended)) return;
  std::uint32_t running = kRunning;
  slot.end.compare_exchange_strong(running, kCallerAsleep, std::memory_order_acquire);
  while (slot.end.load(std::memory_order_acquire) != kEnded) futex_wait(slot.end, kCallerAsleep);
}

/// Spinning workers see the open slot. Wakes sleeping workers, or starts new ones if too few are free.
void ThreadPool::call_workers(int helpers, Wake rule) noexcept {
  const int asleep = helpers - spinning_.load(std::memory_order_relaxed);
  if (asleep <= 0 || !may_wake(rule)) return;
  const int free = started() - busy_.load(std::memory_order_relaxed);
  if (free < helpers && started() < allowed_.load(std::memory_order_relaxed)) start(helpers - free);
  wake(claim_idle(std::min(asleep, kWakes)));
}

bool ThreadPool::may_wake(Wake rule) const noexcept {
  if (rule == Wake::always) return true;
  const std::int64_t now = nanoseconds_now();
  if (now < no_wake_before_.load(std::memory_order_relaxed)) return false;
  return rule == Wake::usually || now - last_end_.load(std::memory_order_relaxed) < kSeries.count();
}

void ThreadPool::allow(int workers) noexcept {
  allowed_.store(std::clamp(workers, 0, kMaxWorkers), std::memory_order_relaxed);
}

/// Starts up to `missing` workers. Does nothing while another thread starts some.
void ThreadPool::start(int missing) noexcept {
  if (starting_.exchange(true, std::memory_order_acquire)) return;
  for (; missing > 0 && started() < allowed_.load(std::memory_order_relaxed); --missing)
    if (!start_one()) allow(started());  // no further attempts, which would slow down every loop
  starting_.store(false, std::memory_order_release);
}

/// Starts a worker with all signals blocked, so that handlers run on the program's threads.
bool ThreadPool::start_one() noexcept {
  const int index = started();
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool good = create_thread(threads_[static_cast<std::size_t>(index)], &serve, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!good) return false;
  started_.store(index + 1, std::memory_order_relaxed);
  return true;
}

void* ThreadPool::serve(void* pool) {
  ::pthread_setname_np(::pthread_self(), "sptile");
  ThreadPool& self = *static_cast<ThreadPool*>(pool);
  const auto first = static_cast<unsigned>(self.started());
  bool woken = true, may_spin = false;
  while (!self.stopping_.load(std::memory_order_acquire)) {
    const Help help = self.help_one(first, woken);
    if (woken && help != Help::apart)
      self.no_wake_before_.store((nanoseconds_now() + std::chrono::nanoseconds(kNoWake).count()),
                                 std::memory_order_relaxed);
    woken = false;
    if (help != Help::none) {
      may_spin = help == Help::apart;
    } else if (!may_spin || !self.spin()) {
      self.sleep();
      woken = true;
      may_spin = false;
    }
  }
  return nullptr;
}

/// Joins a loop that has a free seat. Workers search from different slots, so that they help different
/// callers. If all processors are busy, the kernel may run a woken worker on its caller's processor and
/// preempt the caller; the worker then yields.
ThreadPool::Help ThreadPool::help_one(unsigned first, bool woken) noexcept {
  const std::uint64_t open =
      std::rotr(open_.load(std::memory_order_acquire), static_cast<int>(first % kSlots));
  for (std::uint64_t bits = open; bits != 0; bits &= bits - 1) {
    Slot& slot = slots_[(static_cast<unsigned>(std::countr_zero(bits)) + first) % kSlots];
    const bool together = slot.processor.load(std::memory_order_relaxed) == ::sched_getcpu();
    if (together) ::sched_yield();
    if (!claim_seat(slot)) continue;
    help(slot, woken);
    return together ? Help::on_processor_of_caller : Help::apart;
  }
  return Help::none;
}

/// Runs iterations of a loop in which this worker has taken a seat. A woken worker wakes others first.
void ThreadPool::help(Slot& slot, bool woken) noexcept {
  busy_.fetch_add(1, std::memory_order_relaxed);
  const auto seats = static_cast<int>((slot.state.load(std::memory_order_relaxed) & kSeats) / kSeat);
  if (woken && seats > 0) wake(claim_idle(std::min(seats, kWakes)));
  std::fesetenv(&slot.environment);
  if (run_iterations(slot) && slot.end.exchange(kEnded, std::memory_order_acq_rel) == kCallerAsleep)
    futex_wake(slot.end, 1);
  slot.state.fetch_sub(1, std::memory_order_release);
  busy_.fetch_sub(1, std::memory_order_relaxed);
}

/// Takes a free seat. The loop then remains in the slot until the worker leaves.
bool ThreadPool::claim_seat(Slot& slot) noexcept {
  std::uint32_t state = slot.state.load(std::memory_order_relaxed);
  while ((state & kSeats) != 0)
    if (slot.state.compare_exchange_weak(state, state - kSeat + 1, std::memory_order_acquire)) return true;
  return false;
}

bool ThreadPool::has_seat() const noexcept {
  for (std::uint64_t bits = open_.load(std::memory_order_seq_cst); bits != 0; bits &= bits - 1)
    if ((slots_[static_cast<std::size_t>(std::countr_zero(bits))].state.load(std::memory_order_relaxed) &
         kSeats) != 0)
      return true;
  return false;
}

/// Returns whether callers and workers occupy all processors, so that none is left for spinning.
bool ThreadPool::is_crowded() const noexcept {
  const int callers = std::popcount(open_.load(std::memory_order_relaxed));
  const int awake = started() - idle_.load(std::memory_order_relaxed);
  return callers + awake > allowed_.load(std::memory_order_relaxed) + 1;
}

/// Spins briefly for the next loop, since callers often multiply repeatedly. Returns whether there is work.
bool ThreadPool::spin() noexcept {
  if (is_crowded()) return false;
  bool found = false;
  spinning_.fetch_add(1, std::memory_order_relaxed);
  spin_until(kWorkerSpin, [&] {
    found = has_seat() || stopping_.load(std::memory_order_relaxed);
    return found || is_crowded();
  });
  spinning_.fetch_sub(1, std::memory_order_relaxed);
  return found;
}

/// Sleeps until a caller claims this worker. No wake-up is lost: a caller opens its slot and then reads
/// `idle_`, a worker increments `idle_` and then reads the slots, so at least one of them sees the other.
void ThreadPool::sleep() noexcept {
  idle_.fetch_add(1, std::memory_order_seq_cst);
  if ((has_seat() || stopping_.load(std::memory_order_seq_cst)) && claim_idle(1) == 1) return;
  std::uint32_t tokens = tokens_.load(std::memory_order_relaxed);
  for (;;) {
    if (tokens == 0) {
      futex_wait(tokens_, 0);
      tokens = tokens_.load(std::memory_order_relaxed);
    } else if (tokens_.compare_exchange_weak(tokens, tokens - 1, std::memory_order_acquire)) {
      return;
    }
  }
}

/// Claims up to `requested` idle workers, which the caller must wake.
int ThreadPool::claim_idle(int requested) noexcept {
  int idle = idle_.load(std::memory_order_seq_cst);
  while (idle > 0) {
    const int claimed = std::min(requested, idle);
    if (idle_.compare_exchange_weak(idle, idle - claimed, std::memory_order_seq_cst)) return claimed;
  }
  return 0;
}

void ThreadPool::wake(int claimed) noexcept {
  if (claimed == 0) return;
  tokens_.fetch_add(static_cast<std::uint32_t>(claimed), std::memory_order_release);
  futex_wake(tokens_, claimed);
}

void ThreadPool::stop() noexcept {
  // holds the flag, so that no caller starts workers from now on
  while (starting_.exchange(true, std::memory_order_acquire)) pause();
  allow(0);
  stopping_.store(true, std::memory_order_seq_cst);
  wake(claim_idle(kMaxWorkers));
  for (int i = 0; i < started(); ++i) ::pthread_join(threads_[static_cast<std::size_t>(i)], nullptr);
  started_.store(0, std::memory_order_relaxed);
}

void ThreadPool::forget_workers() noexcept {
  for (Slot& slot : slots_)  // unused slots are not written, so that their pages stay shared with the parent
    if (slot.state.load(std::memory_order_relaxed) != 0) slot.state.store(0, std::memory_order_relaxed);
  open_.store(0, std::memory_order_relaxed);
  idle_.store(0, std::memory_order_relaxed);
  tokens_.store(0, std::memory_order_relaxed);
  spinning_.store(0, std::memory_order_relaxed);
  busy_.store(0, std::memory_order_relaxed);
  no_wake_before_.store(0, std::memory_order_relaxed);
  started_.store(0, std::memory_order_relaxed);
  starting_.store(false, std::memory_order_relaxed);
  stopping_.store(false, std::memory_order_relaxed);
}

namespace {

/// The pool of the process. It has no destructor, because the program's threads may multiply until the
/// process exits.
constinit ThreadPool pool;

/// Ends the workers before their code is unloaded.
struct AtUnload {
  AtUnload() {
    ::pthread_atfork(nullptr, nullptr, [] { pool.forget_workers(); });
  }
  ~AtUnload() { pool.stop(); }
};
const AtUnload kAtUnload;

}  // namespace

ThreadPool& thread_pool() noexcept {
  static std::atomic<bool> ready{false};
  if (!ready.load(std::memory_order_relaxed) && !ready.exchange(true, std::memory_order_relaxed))
    pool.allow(processors() - 1);
  return pool;
}

}  // namespace sptile::runtime
