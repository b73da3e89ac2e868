// The exchange of rows between devices (sptile_exchange_rows), on emulated streams: the protocol of its
// kernel in three operations, which never block.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include "sptile.h"
#include "tests/dist/emulated_device.hpp"

namespace {

constexpr std::uint64_t stopped = std::numeric_limits<std::uint64_t>::max();

class EmulatedExchange {
 public:
  explicit EmulatedExchange(const sptile_row_exchange& e) : e_(e) {}

  void begin() {
    begin_ = Clock::now();
    if (e_.stop != 0) failed() = 1;
    signal(2 * steps() + 1);
  }
  [[nodiscard]] bool have_begun() const { return is_over(2 * steps() + 1); }
  void send() {
    judge(2 * steps() + 1);
    for (int p = 0; p < e_.peer_count && failed() == 0; ++p) copy(e_.peers[p]);
    signal(2 * steps() + 2);
  }
  [[nodiscard]] bool have_sent() const { return is_over(2 * steps() + 2); }
  void end() {
    judge(2 * steps() + 2);
    ++e_.state[0];
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[nodiscard]] std::uint64_t steps() const { return e_.state[0]; }
  [[nodiscard]] std::uint64_t& failed() const { return e_.state[2]; }
  [[nodiscard]] std::atomic_ref<std::int32_t> fault() const { return std::atomic_ref(*e_.fault); }

  void signal(std::uint64_t value) const {
    for (int p = 0; p < e_.peer_count; ++p) *e_.peers[p].signal = failed() != 0 ? stopped : value;
  }

  /// Returns whether waiting for a value of all peers ends.
  [[nodiscard]] bool is_over(std::uint64_t value) const {
    const bool answered = std::all_of(e_.peers, e_.peers + e_.peer_count,
                                      [&](const sptile_peer& one) { return *one.answer >= value; });
    return answered || failed() != 0 || fault() != 0 ||
           Clock::now() - begin_ > std::chrono::nanoseconds(e_.timeout_ns);
  }

  /// Fails if a peer has not answered or has stopped.
  void judge(std::uint64_t value) const {
    for (int p = 0; p < e_.peer_count && failed() == 0; ++p) {
      if (*e_.peers[p].answer >= value && *e_.peers[p].answer != stopped) continue;
      fault() = *e_.peers[p].answer == stopped ? -1 - p : 1 + p;
      failed() = 1;
    }
  }

  void copy(const sptile_peer& peer) const {
    for (std::int64_t i = peer.first; i < peer.last; ++i)
      std::memcpy(
          static_cast<std::byte*>(peer.rows) + (i - peer.first) * e_.row_bytes,
          static_cast<const std::byte*>(e_.source) + (e_.rows == nullptr ? i : e_.rows[i]) * e_.stride_bytes,
          static_cast<std::size_t>(e_.row_bytes));
  }

  sptile_row_exchange e_;
  Clock::time_point begin_;
};

}  // namespace

sptile_status sptile_exchange_rows(const sptile_row_exchange* exchange, void* stream) {
  if (exchange->peer_count == 0) return SPTILE_STATUS_OK;
  const auto one = std::make_shared<EmulatedExchange>(*exchange);
  auto* const on = static_cast<cudaStream_t>(stream);
  sptile::test::enqueue(on, {[one] { one->begin(); }});
  sptile::test::enqueue(on, {[one] { one->send(); }, [one] { return one->have_begun(); }});
  sptile::test::enqueue(on, {[one] { one->end(); }, [one] { return one->have_sent(); }});
  return SPTILE_STATUS_OK;
}
