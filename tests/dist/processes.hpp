// Ranks as processes of one machine, started by the first, without MPI or mpirun.
#pragma once

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "sptile_dist.hpp"

namespace sptile::test {

/// Shared memory: arrival counter, and a buffer for the message of each rank.
struct SharedMemory {
  static constexpr std::size_t message = 1 << 16;

  std::atomic<std::int64_t> arrived, rounds;
  std::byte messages[1];  // and the following bytes

  static std::size_t bytes(std::int64_t ranks) {
    return sizeof(SharedMemory) + static_cast<std::size_t>(ranks) * message;
  }
  static SharedMemory* open(int file, std::int64_t ranks) {
    void* const at = mmap(nullptr, bytes(ranks), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) throw Exception(SPTILE_STATUS_IO, "mmap of shared memory failed");
    return static_cast<SharedMemory*>(at);
  }
};

/// Gathers through shared memory.
class ProcessGroup {
 public:
  ProcessGroup(int file, std::int64_t rank, std::int64_t size, double seconds)
      : memory_(SharedMemory::open(file, size)), rank_(rank), size_(size), seconds_(seconds) {}
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;
  ~ProcessGroup() { munmap(memory_, SharedMemory::bytes(size_)); }

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return size_; }

  void all_gather(const void* from, std::size_t bytes, void* to) {
    if (bytes > SharedMemory::message)
      throw Exception(SPTILE_STATUS_USAGE, "a message of " + std::to_string(bytes) + " bytes is too long");
    std::memcpy(message_of(rank_), from, bytes);
    meet();
    for (std::int64_t p = 0; p < size_; ++p)
      std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(p) * bytes, message_of(p), bytes);
    meet();
  }

  void meet() {
    const std::int64_t round = memory_->rounds;
    if (++memory_->arrived == size_) {
      memory_->arrived = 0;
      ++memory_->rounds;
    }
    for (const dist::detail::Deadline deadline(seconds_); memory_->rounds == round; std::this_thread::yield())
      if (deadline.over()) throw Exception(SPTILE_STATUS_IO, dist::detail::no_answer(rank_, size_, seconds_));
  }

 private:
  [[nodiscard]] std::byte* message_of(std::int64_t rank) const {
    return memory_->messages + static_cast<std::size_t>(rank) * SharedMemory::message;
  }

  SharedMemory* memory_;
  std::int64_t rank_, size_;
  double seconds_;
};

/// Starts this program once per rank with two additional arguments, its rank and the shared memory file.
/// Returns the exit codes. Ranks are killed if this process ends.
inline std::vector<int> run_processes(std::int64_t ranks, const std::vector<std::string>& arguments) {
  const int file = memfd_create("ranks", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(SharedMemory::bytes(ranks))) != 0)
    throw Exception(SPTILE_STATUS_IO, "there is no shared memory");
  std::vector<pid_t> processes;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::string> words = arguments;
    words.push_back("rank=" + std::to_string(rank));
    words.push_back("memory=" + std::to_string(file));
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    processes.push_back(fork());
    if (processes.back() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      execv("/proc/self/exe", pointers.data());
      _exit(127);
    }
  }
  std::vector<int> codes;
  for (const pid_t process : processes) {
    int status = 0;
    waitpid(process, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  close(file);
  return codes;
}

}  // namespace sptile::test
