// The fastest exchange between CUDA devices, by measurement.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/cuda.hpp"
#include "sptile_dist/exchange.hpp"
#include "sptile_dist/halo_rows.hpp"
#include "sptile_dist/nccl.hpp"
#include "sptile_dist/peers.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {

/// NCCL with several bounds of its CTAs, and writes into the memory of peers if the devices can map it. Each
/// Product measures its products with all of them and uses the one that is fastest in the slowest process.
/// `group` and `seconds` as in NcclExchange and PeerExchange.
template <Group G>
class DeviceExchange {
 public:
  static constexpr bool capturable = true;
  /// Bounds of NCCL's CTAs: its own choice, and 6 % of the 132 multiprocessors of an H100.
  static constexpr std::array<int, 2> max_ctas = {0, 8};

  explicit DeviceExchange(G& group, double seconds = 600) : seconds_(seconds) {
    for (const int most : max_ctas) nccl_.push_back(std::make_unique<Nccl>(group, seconds, most));
    try {
      peers_.emplace(group, seconds);
    } catch (const Exception& e) {  // the same in all processes
      if (e.status() != SPTILE_STATUS_UNSUPPORTED) throw;
    }
  }

  [[nodiscard]] std::int64_t rank() const { return nccl_.front()->rank(); }
  [[nodiscard]] std::int64_t size() const { return nccl_.front()->size(); }
  void all_gather(const void* from, std::size_t bytes, void* to) {
    nccl_.front()->all_gather(from, bytes, to);
  }

  /// Waits until the event has completed.
  void wait(void* event) {
    if (!detail::completes(event, seconds_, [this] { look(); })) {
      abort();
      if (peers_) peers_->expire(event);
      nccl_.front()->expire();
    }
    if (peers_) peers_->look();
  }

  template <class T, class M>
  class HaloRows;

 private:
  using Nccl = NcclExchange<G>;
  using Peers = PeerExchange<G>;

  void look() {
    try {
      for (const auto& one : nccl_) one->look();
      if (peers_) peers_->look();
    } catch (...) {
      abort();
      throw;
    }
  }

  /// Aborts all communicators: any of them may have kernels in flight.
  void abort() noexcept {
    for (const auto& one : nccl_) one->abort();
  }

  double seconds_;
  std::vector<std::unique_ptr<Nccl>> nccl_;
  std::optional<Peers> peers_;
};

/// Halo rows by one of the exchanges; see detail::HaloRows.
template <Group G>
template <class T, class M>
class DeviceExchange<G>::HaloRows {
 public:
  using SentRows = typename M::template SentRows<T>;

  HaloRows(DeviceExchange& exchange, M& memory, const SentRows& rows, const Part& part, std::int64_t n,
           bool both)
      : exchange_(exchange) {
    nccl_.emplace(*exchange.nccl_.front(), memory, rows, part, n, both);
    if (exchange.peers_) peers_.emplace(*exchange.peers_, memory, rows, part, n, both);
  }

  void connect() {
    if (peers_) peers_->connect();
  }

  /// Returns the number of exchanges.
  [[nodiscard]] std::size_t choices() const { return exchange_.nccl_.size() + (exchange_.peers_ ? 1 : 0); }
  /// Takes exchange i.
  void use(std::size_t i) {
    chosen_ = i;
    if (!by_peers()) nccl_->use(*exchange_.nccl_[i]);
  }
  /// Frees the memory of exchanges that are not taken.
  void keep() {
    if (by_peers())
      nccl_.reset();
    else
      peers_.reset();
  }
  /// Returns the name of the exchange: "peers", "nccl", or "nccl:" and its bound of CTAs.
  [[nodiscard]] std::string wire() const {
    if (by_peers()) return "peers";
    const int most = exchange_.nccl_[chosen_]->max_ctas();
    return most == 0 ? "nccl" : "nccl:" + std::to_string(most);
  }

  void fetch(const T* b, void* stream) { by_peers() ? peers_->fetch(b, stream) : nccl_->fetch(b, stream); }
  void give_back(void* stream) { by_peers() ? peers_->give_back(stream) : nccl_->give_back(stream); }
  void finish() { by_peers() ? peers_->finish() : nccl_->finish(); }
  [[nodiscard]] std::span<T> received() { return by_peers() ? peers_->received() : nccl_->received(); }
  [[nodiscard]] std::span<T> returned() { return by_peers() ? peers_->returned() : nccl_->returned(); }

 private:
  [[nodiscard]] bool by_peers() const { return chosen_ == exchange_.nccl_.size(); }

  DeviceExchange& exchange_;
  std::size_t chosen_ = 0;
  std::optional<detail::HaloRows<T, Nccl, M>> nccl_;
  std::optional<typename Peers::template HaloRows<T, M>> peers_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
