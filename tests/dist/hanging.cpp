// Two ranks, of which the second works for some seconds while the first waits for it.
//
//   hanging SECONDS
//
// Exit code 0, whatever a watchdog prints.
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "tests/dist/processes.hpp"
#include "tests/dist/watchdog.hpp"

namespace sptile::test {

/// Exported, so that stacks name it.
[[gnu::noinline]] void work_slowly(double seconds) {
  const dist::detail::Deadline end(seconds);
  while (!end.over()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}

}  // namespace sptile::test

namespace {

int run_rank(double seconds, std::int64_t rank, int memory) {
  sptile::test::Watchdog watchdog(rank);
  sptile::test::ProcessGroup group(memory, rank, 2, 60);
  watchdog.step("first meeting");
  group.meet();
  watchdog.step(rank == 0 ? "wait for the other rank" : "slow work");
  if (rank == 1) sptile::test::work_slowly(seconds);
  group.meet();
  watchdog.step("last meeting");
  group.meet();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv, argv + argc);
    if (words.size() == 4)  // run_processes has added two
      return run_rank(std::stod(words[1]), std::stoll(words[2].substr(5)), std::stoi(words[3].substr(7)));
    for (const int code : sptile::test::run_processes(2, words))
      if (code != 0) return code;
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
