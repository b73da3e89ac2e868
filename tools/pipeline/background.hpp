// Lets the writing of one thing overlap with the making of the next.
#pragma once

#include <functional>
#include <future>

#include "formats/core/error.hpp"
#include "tools/pipeline/stopwatch.hpp"

namespace sptile::tools {

/// Runs tasks one at a time on another thread. At most one is under way, so at most one finished product
/// waits in memory. Destruction waits for the task.
class Background {
 public:
  /// Waits for the task before, then starts this one; gives the error of the one before.
  Status start(std::function<Status()> task) {
    if (Status s = wait(); !s) return s;
    pending_ = std::async(std::launch::async, [this, run = std::move(task)]() mutable {
      const Stopwatch watch;
      const Status s = run();
      run = nullptr;  // lets go of what it holds before wait() returns
      busy_ += watch.seconds();
      return s;
    });
    return {};
  }

  /// Waits for the task under way, if there is one, and gives its result; rethrows what it threw.
  Status wait() { return pending_.valid() ? pending_.get() : Status{}; }

  /// Seconds that tasks ran; read after wait().
  [[nodiscard]] double busy_seconds() const { return busy_; }

 private:
  double busy_ = 0;
  std::future<Status> pending_;
};

}  // namespace sptile::tools
