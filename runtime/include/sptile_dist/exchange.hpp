// What exchanges rows between processes; how long they wait for each other.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

namespace sptile {
inline namespace v1 {
namespace dist {

/// Processes that know each other. `all_gather` takes `bytes` of host memory of each and gives those of all,
/// by rank.
template <class G>
concept Group = requires(G& g, const void* from, void* to, std::size_t bytes) {
  { g.rank() } -> std::convertible_to<std::int64_t>;
  { g.size() } -> std::convertible_to<std::int64_t>;
  g.all_gather(from, bytes, to);
};

/// How processes exchange rows in host memory. Rows for (and from) process p lie at offsets[p] to
/// offsets[p + 1] of a buffer, counted in rows of `row_bytes`; buffers stay untouched from `start` to
/// `finish`, one exchange at a time.
template <class E>
concept Exchange = Group<E> &&
    requires(E& e, const void* from, void* to, std::span<const std::int64_t> offsets, std::size_t row_bytes) {
  e.start(from, offsets, to, offsets, row_bytes);
  e.finish();
};

/// The same in device memory, as work of a stream (a cudaStream_t): what is on the stream before `start`
/// comes first, and what is put there after `finish` finds the rows. Between the two other streams are given
/// work. `wait` returns when an event (a cudaEvent_t) has happened, or throws why it never will.
template <class E>
concept StreamExchange = Group<E> &&
    requires(E& e, const void* from, void* to, std::span<const std::int64_t> offsets, std::size_t row_bytes,
             void* stream, void* event) {
  e.start(from, offsets, to, offsets, row_bytes, stream);
  e.finish();
  e.wait(event);
};

namespace detail {

/// Time that others are given to answer.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {}
  [[nodiscard]] bool over() const { return Clock::now() >= end_; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end_;
};

/// What is said of others that do not answer.
inline std::string no_answer(std::int64_t rank, std::int64_t size, double seconds) {
  char text[160];
  std::snprintf(text, sizeof text,
                "rank %lld of %lld: no answer from other ranks within %g s; one has ended, hangs or runs a "
                "different call",
                static_cast<long long>(rank), static_cast<long long>(size), seconds);
  return text;
}

}  // namespace detail

}  // namespace dist
}  // namespace v1
}  // namespace sptile
