// Three-stage pipeline, parallel or serial; see parallel_loop.hpp.
#pragma once

#include <tbb/parallel_pipeline.h>

#include <mutex>
#include <vector>

#include "formats/core/fork.hpp"
#include "formats/core/parallel_loop.hpp"

namespace sptile::parallel {

/// Calls take() until it returns null, work(item) on several items in parallel, and give(item) in the order
/// of take().
template <class Item, class Take, class Work, class Give>
void pipeline(const Take& take, const Work& work, const Give& give) {
  if (forks() > 0) {
    while (Item* const item = take()) work(item), give(item);
    return;
  }
  using tbb::filter_mode;
  const auto take_or_stop = [&](tbb::flow_control& control) {
    Item* const item = take();
    if (item == nullptr) control.stop();
    return item;
  };
  const auto pass = [&](Item* item) {
    work(item);
    return item;
  };
  tbb::parallel_pipeline(static_cast<std::size_t>(2 * max_threads()),
                         tbb::make_filter<void, Item*>(filter_mode::serial_in_order, take_or_stop) &
                             tbb::make_filter<Item*, Item*>(filter_mode::parallel, pass) &
                             tbb::make_filter<Item*, void>(filter_mode::serial_in_order, give));
}

/// Pool of finished pipeline items for reuse; push and pop may run in two threads at once.
template <class Item>
class IdleItems {
 public:
  void push(Item* item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(item);
  }
  /// Returns null if the pool is empty.
  Item* pop() {
    const std::lock_guard lock(mutex_);
    if (items_.empty()) return nullptr;
    Item* const item = items_.back();
    items_.pop_back();
    return item;
  }

 private:
  std::mutex mutex_;
  std::vector<Item*> items_;
};

}  // namespace sptile::parallel
