// Threads of a block on the host, as fibers; see runtime/cuda/convert/team.hpp.
#pragma once

#include <cstdint>
#include <functional>

namespace sptile::test {

/// Runs body(thread) in `threads` fibers, which switch at barriers only: in ascending order, or descending if
/// `backwards`. Throws std::logic_error if some threads end while others wait.
void run_team(int threads, bool backwards, const std::function<void(int)>& body);

/// Waits for all threads of the team.
void sync_team();

/// The numbers that the threads of the team exchange.
std::uint64_t& team_number(int thread);

class HostTeam {
 public:
  static constexpr int kThreads = 64;  ///< a multiple of 32

  explicit HostTeam(int thread) : thread_(thread) {}

  [[nodiscard]] int thread() const { return thread_; }
  [[nodiscard]] int threads() const { return kThreads; }
  void sync() const { sync_team(); }
  [[nodiscard]] std::uint64_t max(std::uint64_t x) const {
    return exchange(x, [&](int thread) { x = team_number(thread) > x ? team_number(thread) : x; }), x;
  }
  [[nodiscard]] std::uint64_t sum(std::uint64_t x) const {
    std::uint64_t total = 0;
    before(x, total);
    return total;
  }
  std::uint64_t before(std::uint64_t x, std::uint64_t& total) const {
    std::uint64_t first = total = 0;
    exchange(x, [&](int thread) {
      if (thread == thread_) first = total;
      total += team_number(thread);
    });
    return first;
  }

 private:
  template <class Visit>
  void exchange(std::uint64_t x, const Visit& visit) const {
    team_number(thread_) = x;
    sync();
    for (int thread = 0; thread < kThreads; ++thread) visit(thread);
    sync();
  }

  int thread_;
};

}  // namespace sptile::test
