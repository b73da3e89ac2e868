#include "tests/runtime/cuda/emulated_order.hpp"

#include <algorithm>
#include <set>

#include "tests/runtime/cuda/emulated_device.hpp"

namespace sptile::test {

unsigned MemoryOrder::number_of(unsigned thread) {
  const unsigned block = block_index.x + grid_size.x * (block_index.y + grid_size.y * block_index.z);
  return block * block_size.x + thread;
}

void MemoryOrder::begin_launch() {
  const bool before = violated;
  *this = {};
  violated = before;
}

MemoryOrder::Thread& MemoryOrder::current() { return threads_[number_of(thread_index.x)]; }

void MemoryOrder::add(Clock& to, const Clock& from) {
  for (const auto& [thread, stores] : from) to[thread] = std::max(to[thread], stores);
}

void MemoryOrder::store(const void* to) { stores_[to] = {number_of(thread_index.x), ++current().stores}; }

void MemoryOrder::load(const void* from) {
  const auto found = stores_.find(from);
  if (found == stores_.end()) return;
  const auto& [thread, number] = found->second;
  const Clock& seen = *current().seen;
  const auto known = seen.find(thread);
  const bool is_own = thread == number_of(thread_index.x);
  violated = violated || (!is_own && (known == seen.end() || known->second < number));
}

void MemoryOrder::synchronize(std::span<const unsigned> threads) {
  if (stores_.empty()) return;
  std::set<Seen> before;
  bool news = false;
  for (const unsigned thread : threads) {
    const Thread& one = threads_[number_of(thread)];
    before.insert(one.seen);
    news = news || one.stores != one.ordered;
  }
  if (!news && before.size() == 1) return;
  auto all = std::make_shared<Clock>();
  for (const Seen& seen : before) add(*all, *seen);
  for (const unsigned thread : threads) {
    const unsigned number = number_of(thread);
    Thread& one = threads_[number];
    if (one.stores > 0) (*all)[number] = one.stores;
    one.ordered = one.stores;
    one.seen = all;
  }
}

void MemoryOrder::count(const unsigned* counter) {
  Thread& mine = current();
  Clock& released = released_[counter];
  add(mine.observed, released);
  add(released, *mine.seen);
  released[number_of(thread_index.x)] = mine.stores;
}

void MemoryOrder::fence() {
  Thread& mine = current();
  auto seen = std::make_shared<Clock>(*mine.seen);
  add(*seen, mine.observed);
  mine.seen = std::move(seen);
}

}  // namespace sptile::test
