// Rows that a process sends to others and receives from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sptile.hpp"
#include "sptile_dist/exchange.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {
namespace detail {

/// Halo rows of one matrix with n columns: rows of B are fetched from the processes that own them, and
/// contributions are given back to these processes. This class copies between buffers by any exchange.
template <class T, class E, class M>
class HaloRows {
 public:
  using SentRows = typename M::template SentRows<T>;

  /// Allocates memory. `rows` gathers the sent rows and is borrowed, as are the exchange and the part.
  /// `both`: also for give_back.
  HaloRows(E& exchange, M&, const SentRows& rows, const Part& part, std::int64_t n, bool /*both*/)
      : exchange_(&exchange),
        rows_(rows),
        part_(part),
        row_bytes_(static_cast<std::size_t>(n) * sizeof(T)),
        sent_(part.send_rows().size() * static_cast<std::size_t>(n)),
        received_(static_cast<std::size_t>(part.needed() * n)) {}

  /// Completes the construction; all processes call it together, and throw the same error.
  static void connect() {}

  /// Starts to send rows of b [owned, n], on a stream if M has streams, and to receive rows.
  void fetch(const T* b, void* stream) {
    rows_.gather(b, sent_.data(), stream);
    start(sent_.data(), part_.send_offset(), received_.data(), part_.receive_offset(), stream);
  }
  /// Starts to send the contributions in received() to the owners of these rows, and to receive others.
  void give_back(void* stream) {
    start(received_.data(), part_.receive_offset(), sent_.data(), part_.send_offset(), stream);
  }
  /// Ends the last fetch or give_back. Later work on its stream sees the rows.
  void finish() { exchange_->finish(); }

  /// Rows that fetch receives, [needed, n].
  [[nodiscard]] std::span<T> received() { return {received_.data(), received_.size()}; }
  /// Contributions that give_back receives, [sent rows, n].
  [[nodiscard]] std::span<T> returned() { return {sent_.data(), sent_.size()}; }

  /// Replaces the exchange.
  void use(E& exchange) { exchange_ = &exchange; }

 private:
  void start(const T* from, std::span<const std::int64_t> from_offset, T* to,
             std::span<const std::int64_t> to_offset, [[maybe_unused]] void* stream) {
    if constexpr (StreamExchange<E>)
      exchange_->start(from, from_offset, to, to_offset, row_bytes_, stream);
    else
      exchange_->start(from, from_offset, to, to_offset, row_bytes_);
  }

  E* exchange_;
  const SentRows& rows_;
  const Part& part_;
  std::size_t row_bytes_;
  typename M::template Buffer<T> sent_, received_;
};

template <class T, class E, class M>
struct HaloRowsOf {
  using type = HaloRows<T, E, M>;
};
template <class T, class E, class M>
requires HasHaloRows<E, T, M>
struct HaloRowsOf<T, E, M> {
  using type = typename E::template HaloRows<T, M>;
};

}  // namespace detail
}  // namespace dist
}  // namespace v1
}  // namespace sptile
