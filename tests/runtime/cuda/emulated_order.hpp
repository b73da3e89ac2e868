// Memory ordering of an emulated kernel. Stores to other warps (__stcg) must be ordered before the loads that
// read them (__ldcg), by barriers and by counters that are released and acquired: see
// runtime/cuda/collective/split.cuh. Lanes run in turns, so a missing order does not change results; it is
// detected by vector clocks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

namespace sptile::test {

/// Happens-before state: the number of stores of each thread of the grid.
using Clock = std::map<unsigned, unsigned>;

/// Memory order of the threads of one launch; the current one is that of `thread_index` and `block_index`.
class MemoryOrder {
 public:
  /// Resets all but the violations: a launch sees the stores of earlier ones.
  void begin_launch();
  void store(const void* to);
  void load(const void* from);
  /// Orders the threads of a barrier at which all have arrived and none has left.
  void synchronize(std::span<const unsigned> threads);
  /// Reads and increments a counter with release semantics. The thread's next fence acquires what the counter
  /// released.
  void count(const unsigned* counter);
  void fence();
  /// Returns the index of a thread of the current block in the grid.
  static unsigned number_of(unsigned thread);

  bool violated = false;  ///< a load has read a store that is not ordered before it

 private:
  using Seen = std::shared_ptr<const Clock>;
  struct Store {
    unsigned thread, number;
  };
  struct Thread {
    Seen seen = std::make_shared<Clock>();  ///< stores of other threads, shared by threads of a barrier
    Clock observed;                         ///< state released by counters
    unsigned stores = 0,
             ordered = 0;  ///< stores: number of own stores; met: those ordered by the last barrier
  };
  Thread& current();
  static void add(Clock& to, const Clock& from);

  std::map<unsigned, Thread> threads_;
  std::map<const void*, Store> stores_;
  std::map<const unsigned*, Clock> released_;
};
inline MemoryOrder memory_order;

}  // namespace sptile::test
