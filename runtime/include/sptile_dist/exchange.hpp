// Concepts of exchanges of rows between processes, and their deadline.
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

/// A group of processes. `all_gather` gathers `bytes` of host memory from each process into all of them, by
/// rank.
template <class G>
concept Group = requires(G& g, const void* from, void* to, std::size_t bytes) {
  { g.rank() } -> std::convertible_to<std::int64_t>;
  { g.size() } -> std::convertible_to<std::int64_t>;
  g.all_gather(from, bytes, to);
};

/// An exchange of rows in host memory. Rows for (and from) process p are at offsets[p] to offsets[p + 1] of a
/// buffer, counted in rows of `row_bytes`. Buffers must not change between `start` and `finish`, and there is
/// one exchange at a time.
template <class E>
concept Exchange = Group<E> &&
    requires(E& e, const void* from, void* to, std::span<const std::int64_t> offsets, std::size_t row_bytes) {
  e.start(from, offsets, to, offsets, row_bytes);
  e.finish();
};

/// Processes with streams. `wait` returns when an event (a cudaEvent_t) has completed, or throws if it cannot
/// complete because of another process.
template <class E>
concept StreamGroup = Group<E> && requires(E& e, void* event) {
  e.wait(event);
};

/// An exchange of rows in device memory, enqueued on a stream (a cudaStream_t): it starts after the work
/// enqueued before `start`, and work enqueued after `finish` sees the rows. Other streams receive work in
/// between.
template <class E>
concept StreamExchange = StreamGroup<E> &&
    requires(E& e, const void* from, void* to, std::span<const std::int64_t> offsets, std::size_t row_bytes,
             void* stream) {
  e.start(from, offsets, to, offsets, row_bytes, stream);
  e.finish();
};

/// An exchange that does not copy between arbitrary buffers: its class HaloRows replaces detail::HaloRows,
/// which documents the functions.
template <class E, class T, class M>
concept HasHaloRows = Group<E> && requires {
  typename E::template HaloRows<T, M>;
};

/// An exchange that only enqueues work, so that CUDA graphs can contain it.
template <class E>
concept Capturable = StreamGroup<E> && E::capturable;

namespace detail {

/// Time limit for the answer of other processes.
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

/// Returns the error message for processes that do not answer.
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
