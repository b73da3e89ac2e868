#include "runtime/threads/pool.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "tests/child_process.hpp"

namespace sptile::runtime {
namespace {

/// A pool with workers for a test, which end with it.
class TestPool : public ThreadPool {
 public:
  explicit TestPool(int workers) { allow(workers); }
  ~TestPool() { stop(); }
};

/// True when a loop calls its body exactly once for each index.
bool runs_each_once(ThreadPool& pool, int threads, std::int64_t count) {
  std::vector<int> calls(static_cast<std::size_t>(count), 0);  // plain: no two threads may have one index
  pool.run(threads, count, [&](std::int64_t i) { ++calls[static_cast<std::size_t>(i)]; });
  return std::ranges::all_of(calls, [](int n) { return n == 1; });
}

/// Occupies workers until it is destroyed: each waits in an iteration of a loop that `caller` runs.
class Occupied {
 public:
  Occupied(ThreadPool& pool, int workers)
      : inside_(workers + 1), caller_([this, &pool, workers] {
          pool.run(workers + 1, workers + 1, [this](std::int64_t) {
            inside_.count_down();
            leave_.wait();
          });
        }) {
    inside_.wait();
  }
  ~Occupied() {
    leave_.count_down();
    caller_.join();
  }
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  std::latch inside_, leave_{1};
  std::thread caller_;
};

}  // namespace

TEST_CASE("thread pool: each iteration runs once with any number of threads, workers and iterations") {
  for (const int workers : {0, 1, 3, 7}) {
    TestPool pool(workers);
    for (int threads = 0; threads <= 9; ++threads)
      for (const std::int64_t count : {0, 1, 2, 7, 1000}) {
        CAPTURE(workers);
        CAPTURE(threads);
        CAPTURE(count);
        CHECK(runs_each_once(pool, threads, count));
      }
    CHECK(pool.started() == workers);
  }
}

TEST_CASE("thread pool: a loop starts no more workers than it has threads") {
  TestPool pool(7);
  CHECK(runs_each_once(pool, 1, 100));
  CHECK(pool.started() == 0);
  CHECK(runs_each_once(pool, 3, 100));
  CHECK(pool.started() == 2);
}

TEST_CASE("thread pool: a loop starts no more workers than it has iterations for") {
  TestPool pool(7);
  CHECK(runs_each_once(pool, 8, 2));  // one of the two is for the caller
  CHECK(pool.started() == 1);
}

TEST_CASE("thread pool: workers take part, and the caller sees what they wrote") {
  TestPool pool(3);
  // Ends only with four threads inside at once.
  std::latch all_inside(4);
  std::vector<std::string> written(4);
  pool.run(4, 4, [&](std::int64_t i) {
    all_inside.arrive_and_wait();
    written[static_cast<std::size_t>(i)] = std::to_string(i);
  });
  CHECK(written == std::vector<std::string>{"0", "1", "2", "3"});
}

TEST_CASE("thread pool: sleeping workers are woken for the next loop") {
  constexpr int kThreads = 8;
  TestPool pool(kThreads - 1);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::latch all_inside(kThreads);
    std::atomic<int> calls = 0;
    pool.run(kThreads, kThreads, [&](std::int64_t) { ++calls, all_inside.arrive_and_wait(); });
    CHECK(calls == kThreads);
    ::usleep(static_cast<useconds_t>(repeat) * 20);  // from workers that still spin to workers that sleep
  }
}

TEST_CASE("thread pool: a caller does not wait for workers that are elsewhere") {
  TestPool pool(3);
  const Occupied occupied(pool, 3);
  CHECK(runs_each_once(pool, 4, 100));  // no worker can arrive before `occupied` ends
  CHECK(pool.started() == 3);
}

TEST_CASE("thread pool: a loop gets the workers that are free") {
  TestPool pool(3);
  const Occupied occupied(pool, 2);
  std::latch both_inside(2);
  std::atomic<int> calls = 0;
  pool.run(8, 2, [&](std::int64_t) { ++calls, both_inside.arrive_and_wait(); });
  CHECK(calls == 2);
}

TEST_CASE("thread pool: many callers share the workers") {
  TestPool pool(2);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      for (int repeat = 0; repeat < 200; ++repeat)
        wrong += runs_each_once(pool, 1 + (caller + repeat) % 5, 1 + repeat % 40) ? 0 : 1;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong == 0);
  CHECK(pool.started() <= 2);
}

TEST_CASE("thread pool: more callers than the pool has slots") {
  constexpr int kCallers = 80;
  TestPool pool(1);
  std::latch all_inside(kCallers);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller)
    callers.emplace_back([&] {
      pool.run(2, 2, [&](std::int64_t i) {
        if (++calls, i == 0) all_inside.arrive_and_wait();
      });
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(calls == 2 * kCallers);
}

TEST_CASE("thread pool: a body may run loops") {
  TestPool pool(3);
  std::atomic<int> calls = 0;
  pool.run(4, 20, [&](std::int64_t) { pool.run(4, 20, [&](std::int64_t) { ++calls; }); });
  CHECK(calls == 400);
}

TEST_CASE("thread pool: workers have the floating-point settings of the caller") {
  TestPool pool(1);
  for (const int rounding : {FE_UPWARD, FE_TONEAREST, FE_DOWNWARD}) {
    std::fesetround(rounding);
    std::latch both_inside(2);
    std::vector<int> found(2, -1);
    pool.run(2, 2, [&](std::int64_t i) {
      both_inside.arrive_and_wait();
      found[static_cast<std::size_t>(i)] = std::fegetround();
    });
    CHECK(found == std::vector<int>(2, rounding));
  }
  std::fesetround(FE_TONEAREST);
}

TEST_CASE("thread pool: workers accept no signals") {
  TestPool pool(1);
  std::latch both_inside(2);
  std::atomic<int> blocking = 0;
  pool.run(2, 2, [&](std::int64_t) {
    both_inside.arrive_and_wait();
    sigset_t blocked;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    blocking += ::sigismember(&blocked, SIGTERM);
  });
  CHECK(blocking == 1);
}

TEST_CASE("thread pool: loops run on the caller after the workers have stopped") {
  ThreadPool pool;
  pool.allow(3);
  CHECK(runs_each_once(pool, 4, 100));
  pool.stop();
  CHECK(pool.started() == 0);
  CHECK(runs_each_once(pool, 4, 100));
  CHECK(pool.started() == 0);
}

TEST_CASE("thread pool: a child of fork starts workers of its own, whatever those of its parent did") {
  constexpr unsigned kSeconds = 30;  // after which a child hangs
  constexpr int kWorkers = 2;
  TestPool pool(kWorkers);
  const Occupied occupied(pool, kWorkers);
  CHECK(in_child([&] {
          ::alarm(kSeconds);
          pool.forget_workers();
          std::latch all_inside(kWorkers + 1);
          pool.run(kWorkers + 1, kWorkers + 1, [&](std::int64_t) { all_inside.arrive_and_wait(); });
          pool.stop();
        }) == 0);
}

TEST_CASE("thread pool: the process has one, with at least the caller") {
  CHECK(&thread_pool() == &thread_pool());
  CHECK(runs_each_once(thread_pool(), 4, 1000));
}

}  // namespace sptile::runtime
