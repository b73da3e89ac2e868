#include "tests/runtime/cuda/convert/host_team.hpp"

#include <stdexcept>
#include <vector>

#include "tests/runtime/cuda/fiber.hpp"

namespace sptile::test {
namespace {

struct Team {
  const std::function<void(int)>* body = nullptr;
  Fiber caller;
  std::vector<Fiber> fibers;
  std::vector<std::uint64_t> numbers;
  int current = 0, ended = 0;
};
Team* team = nullptr;

void run_current() {
  (*team->body)(team->current);
  ++team->ended;
  for (;;) sync_team();
}

}  // namespace

void run_team(int threads, bool backwards, const std::function<void(int)>& body) {
  Team made;
  made.body = &body;
  made.numbers.resize(static_cast<std::size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) made.fibers.emplace_back(run_current);
  team = &made;
  while (made.ended == 0)
    for (int i = 0; i < threads; ++i) {
      made.current = backwards ? threads - 1 - i : i;
      made.caller.switch_to(made.fibers[static_cast<std::size_t>(made.current)]);
    }
  team = nullptr;
  if (made.ended != threads) throw std::logic_error("some threads of a block wait for threads that ended");
}

void sync_team() { team->fibers[static_cast<std::size_t>(team->current)].switch_to(team->caller); }

std::uint64_t& team_number(int thread) { return team->numbers[static_cast<std::size_t>(thread)]; }

}  // namespace sptile::test
