// Memory ordering of an emulated kernel. Stores that other warps are to see (__stcg) must be ordered before
// the loads that see them (__ldcg), by barriers and by counters that are released and acquired: see
// runtime/cuda/collective/split.cuh. The emulation runs lanes in turns, so a missing order does not change
// results; it is found by vector clocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace sptile::test {

/// What happened before: for each thread of the grid, the number of its stores.
using Clock = std::map<unsigned, unsigned>;

/// Of the threads of one launch; the current one is that of `thread_index` and `block_index`.
class MemoryOrder {
 public:
  /// Forgets all but violations: a launch sees what earlier ones have stored.
  void begin_launch();
  void store(const void* to);
  void load(const void* from);
  /// Orders the threads of a barrier: all of them have arrived, none has left.
  void meet(std::span<const unsigned> threads);
  /// Reads a counter and adds to it: a release. What it could acquire is acquired by the thread's next fence.
  void count(const unsigned* counter);
  void fence();
  /// The number of a thread of the current block among all of the grid.
  static unsigned number_of(unsigned thread);

  bool violated = false;  ///< a load saw a store that is not ordered before it

 private:
  using Seen = std::shared_ptr<const Clock>;
  struct Store {
    unsigned thread, number;
  };
  struct Thread {
    Seen seen = std::make_shared<Clock>();  ///< of other threads; those that met have the same
    Clock observed;                         ///< of counters
    unsigned stores = 0, met = 0;           ///< its own, and how many of them the last barrier ordered
  };
  Thread& current();
  static void add(Clock& to, const Clock& from);

  std::map<unsigned, Thread> threads_;
  std::map<const void*, Store> stores_;
  std::map<const unsigned*, Clock> released_;
};
inline MemoryOrder memory_order;

}  // namespace sptile::test
