// Seconds of the steps of an ordering.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/device_order.hpp"

namespace sptile::runtime::cuda {

/// Records steps that follow each other, starting now.
class OrderTimer {
 public:
  explicit OrderTimer(std::vector<OrderStep>& steps) : steps_(steps) {}

  /// Ends a step; the next one starts.
  void end(std::string name) {
    const auto now = Clock::now();
    const std::chrono::duration<double> seconds = now - std::exchange(start_, now);
    steps_.push_back({std::move(name), seconds.count()});
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<OrderStep>& steps_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace sptile::runtime::cuda
