// Overlap of writing one result with computing the next.
#pragma once

#include <functional>
#include <future>

#include "formats/core/error.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {

/// Runs tasks one at a time on another thread, so that at most one finished result is waiting in memory. The
/// destructor waits for the task.
class Background {
 public:
  /// Waits for the previous task, then starts this one. Returns the error of the previous task.
  Status start(std::function<Status()> task) {
    if (Status s = wait(); !s) return s;
    pending_ = std::async(std::launch::async, [this, run = std::move(task)]() mutable {
      const Stopwatch watch;
      const Status s = run();
      run = nullptr;  // frees the captured data before wait() returns
      busy_ += watch.seconds();
      return s;
    });
    return {};
  }

  /// Waits for the current task, if any, and returns its result; rethrows its exception.
  Status wait() { return pending_.valid() ? pending_.get() : Status{}; }

  /// Returns the seconds that tasks ran; call it after wait().
  [[nodiscard]] double busy_seconds() const { return busy_; }

 private:
  double busy_ = 0;
  std::future<Status> pending_;
};

}  // namespace sptile::tools
