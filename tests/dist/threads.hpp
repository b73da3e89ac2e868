// Ranks as threads of one process.
#pragma once

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <thread>
#include <vector>

namespace sptile::test {

/// State shared by the threads of a group.
class Threads {
 public:
  explicit Threads(std::int64_t size) : places_(static_cast<std::size_t>(size)), barrier_(size) {}
  [[nodiscard]] std::int64_t size() const { return std::ssize(places_); }

  /// Runs work(rank) in all of them. An exception ends the process.
  template <class Work>
  void run(const Work& work) {
    std::vector<std::jthread> threads;
    for (std::int64_t rank = 0; rank < size(); ++rank)
      threads.emplace_back([&work, rank] {
        try {
          work(rank);
        } catch (const std::exception& e) {
          std::fprintf(stderr, "rank %d: %s\n", static_cast<int>(rank), e.what());
          std::_Exit(1);
        }
      });
  }

 private:
  friend class ThreadExchange;
  std::vector<const void*> places_;
  std::barrier<> barrier_;
};

/// An exchange of host memory between threads.
class ThreadExchange {
 public:
  ThreadExchange(Threads& threads, std::int64_t rank) : threads_(threads), rank_(rank) {}
  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return threads_.size(); }

  void all_gather(const void* from, std::size_t bytes, void* to) {
    shown(from, [&] {
      for (std::size_t p = 0; p < threads_.places_.size(); ++p)
        std::memcpy(static_cast<std::byte*>(to) + p * bytes, threads_.places_[p], bytes);
    });
  }

  void start(const void* from, std::span<const std::int64_t> from_offset, void* to,
             std::span<const std::int64_t> to_offset, std::size_t row_bytes) {
    leaving_ = {from, from_offset};
    arriving_ = to;
    to_offset_ = to_offset;
    row_bytes_ = row_bytes;
  }

  void finish() {
    shown(&leaving_, [&] {
      for (std::size_t p = 0; p < threads_.places_.size(); ++p) {
        const auto& peer = *static_cast<const Leaving*>(threads_.places_[p]);
        const auto first = static_cast<std::size_t>(peer.offset[static_cast<std::size_t>(rank_)]);
        const auto at = static_cast<std::size_t>(to_offset_[p]);
        const std::size_t rows = static_cast<std::size_t>(to_offset_[p + 1]) - at;
        if (rows > 0)
          std::memcpy(static_cast<std::byte*>(arriving_) + at * row_bytes_,
                      static_cast<const std::byte*>(peer.from) + first * row_bytes_, rows * row_bytes_);
      }
    });
  }

 private:
  struct Leaving {
    const void* from = nullptr;
    std::span<const std::int64_t> offset;
  };

  /// Calls `read` while the pointers of all threads are visible.
  template <class Read>
  void shown(const void* own, const Read& read) {
    threads_.places_[static_cast<std::size_t>(rank_)] = own;
    threads_.barrier_.arrive_and_wait();
    read();
    threads_.barrier_.arrive_and_wait();
  }

  Threads& threads_;
  std::int64_t rank_;
  Leaving leaving_;
  void* arriving_ = nullptr;
  std::span<const std::int64_t> to_offset_;
  std::size_t row_bytes_ = 0;
};

}  // namespace sptile::test
