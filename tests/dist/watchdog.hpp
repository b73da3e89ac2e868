// Reports steps of a test that take too long: rank, step, seconds and stack.
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "sptile.hpp"

namespace sptile::test {

/// Stack of another thread of this process, taken by a signal handler in that thread.
class Stack {
 public:
  /// Takes the stack of a thread that has not ended, and waits at most a second for it.
  explicit Stack(pthread_t thread) {
    static std::mutex one_at_a_time;
    const std::scoped_lock lock(one_at_a_time);
    taken_depth = -1;
    struct sigaction action = {}, previous = {};
    action.sa_handler = take;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR2, &action, &previous);
    if (pthread_kill(thread, SIGUSR2) == 0)
      for (int i = 0; i < 1000 && taken_depth < 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (taken_depth < 0) return;  // the handler stays: the signal may still arrive
    sigaction(SIGUSR2, &previous, nullptr);
    frames_ = taken;
    depth_ = static_cast<std::size_t>(taken_depth);
  }

  /// Loads the library that walks stacks: a signal handler must not allocate.
  static void prepare() {
    std::array<void*, 1> frame = {};
    backtrace(frame.data(), 1);
  }

  /// Returns a line per frame: module and offset, as addr2line takes them, and the function if it is
  /// exported.
  [[nodiscard]] std::string text() const {
    if (depth_ == 0) return "  the thread does not respond to a signal\n";
    std::string lines;
    for (std::size_t i = kOfTheHandler; i < depth_; ++i) lines += "  " + line(frames_[i]) + "\n";
    return lines;
  }

 private:
  static constexpr std::size_t kOfTheHandler = 2;  // take() and the return from a signal
  using Frames = std::array<void*, 64>;

  static void take(int) {
    const int error = errno;
    taken_depth = backtrace(taken.data(), static_cast<int>(taken.size()));
    errno = error;
  }

  static std::string line(void* address) {
    Dl_info info = {};
    char text[64];
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) {
      std::snprintf(text, sizeof text, "%p", address);
      return text;
    }
    std::snprintf(text, sizeof text, "+0x%tx",
                  static_cast<char*>(address) - static_cast<char*>(info.dli_fbase));
    std::string name = std::string(info.dli_fname) + text;
    if (info.dli_sname == nullptr) return name;
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status), std::free);
    return name + " " + (status == 0 ? readable.get() : info.dli_sname);
  }

  inline static Frames taken = {};
  inline static std::atomic<int> taken_depth = -1;
  Frames frames_ = {};
  std::size_t depth_ = 0;
};

/// Watches the thread that constructs it. If a step takes too long, prints rank, step, seconds and the stack
/// of the thread to stderr, once per step. The step goes on.
class Watchdog {
 public:
  /// Limit of a step: SPTILE_TEST_WATCHDOG in the environment, or 20 s.
  static double usual_seconds() {
    const char* const text = std::getenv("SPTILE_TEST_WATCHDOG");
    if (text == nullptr) return 20;
    char* end = nullptr;
    const double seconds = std::strtod(text, &end);
    if (end == text || *end != '\0' || !(seconds > 0 && seconds < 1e6))
      throw Exception(SPTILE_STATUS_USAGE, std::string("SPTILE_TEST_WATCHDOG=") + text +
                                               "; expected seconds, more than 0 and less than 10^6");
    return seconds;
  }

  /// `prints_steps`: whether each step is printed to stderr with its seconds when it ends.
  explicit Watchdog(std::int64_t rank, bool prints_steps = false, double seconds = usual_seconds())
      : rank_(rank), prints_steps_(prints_steps), limit_(seconds) {
    Stack::prepare();
    monitor_ = std::thread([this] { watch(); });
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog() {
    change("", true);
    monitor_.join();
  }

  /// Ends the current step and begins the next.
  void step(std::string name) { change(std::move(name), false); }

 private:
  using Clock = std::chrono::steady_clock;

  void change(std::string name, bool end) {
    {
      const std::scoped_lock lock(mutex_);
      if (prints_steps_)
        std::fprintf(stderr, "rank %lld: %s: %.2f s\n", static_cast<long long>(rank_), step_.c_str(),
                     seconds());
      step_ = std::move(name);
      begin_ = Clock::now();
      ended_ = end;
      ++number_;
    }
    changed_.notify_one();
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - begin_).count();
  }

  void watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      const auto next = [this, number = number_] { return number_ != number; };
      if (changed_.wait_for(lock, limit_, next)) continue;
      report();  // with the lock, so that this step does not end
      changed_.wait(lock, next);
    }
  }

  void report() const {
    std::string text(256 + step_.size(), '\0');
    text.resize(static_cast<std::size_t>(
        std::snprintf(text.data(), text.size(), "rank %lld: no progress for %.3g s in step: %s; stack:\n",
                      static_cast<long long>(rank_), seconds(), step_.c_str())));
    text += Stack(watched_).text();
    std::fwrite(text.data(), 1, text.size(), stderr);
  }

  std::int64_t rank_;
  bool prints_steps_;
  std::chrono::duration<double> limit_;
  pthread_t watched_ = pthread_self();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string step_ = "start";
  Clock::time_point begin_ = Clock::now();
  bool ended_ = false;
  std::uint64_t number_ = 0;
  std::thread monitor_;
};

}  // namespace sptile::test
