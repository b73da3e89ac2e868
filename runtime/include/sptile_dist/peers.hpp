// Exchange between CUDA devices of one host that map each other's memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/agreement.hpp"
#include "sptile_dist/cuda.hpp"
#include "sptile_dist/exchange.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {

/// An exchange whose kernel (sptile_exchange_rows) gathers rows and writes them into the memory of the other
/// devices, from the CUDA device that is current at construction. One process per device, all on one host;
/// memory is mapped by CUDA IPC. Messages in host memory go through `group`, which is borrowed.
///
/// The constructor delivers a row between all devices, and throws SPTILE_STATUS_UNSUPPORTED in all processes
/// if one does not arrive. Exchanges that wait for a process for longer than `seconds` throw SPTILE_STATUS_IO
/// here and in all later calls. An exception that destroys a Product is such a failure: it ends the exchanges
/// of this product in all processes. The destructor waits for the other processes, unless an exchange has
/// failed.
template <Group G>
class PeerExchange {
 public:
  static constexpr bool capturable = true;

  explicit PeerExchange(G& group, double seconds = 600)
      : group_(group), rank_(group.rank()), size_(group.size()), seconds_(seconds) {
    meet();
    try {
      try_out();
    } catch (...) {
      leave(false);
      throw;
    }
  }
  PeerExchange(const PeerExchange&) = delete;
  PeerExchange& operator=(const PeerExchange&) = delete;
  ~PeerExchange() {
    bool unmapped = failure_.empty() && !is_unwinding();
    try {
      if (unmapped) detail::gathered(group_, rank_);  // others have destroyed their channels, too
    } catch (...) {
      unmapped = false;
    }
    leave(unmapped);
  }

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  void all_gather(const void* from, std::size_t bytes, void* to) { group_.all_gather(from, bytes, to); }

  /// Waits until the event has completed.
  void wait(void* event) {
    if (!detail::completes(event, seconds_, [this] { look(); })) expire(event);
    look();
  }
  /// Throws if an exchange has failed.
  void look() {
    for (Channel* const one : channels_)
      if (failure_.empty()) failure_ = one->fault();
    if (failure_.empty()) return;
    stop();
    throw Exception(SPTILE_STATUS_IO, failure_);
  }
  /// Ends the exchanges that precede the event, and throws.
  [[noreturn]] void expire(void* event) {
    for (Channel* const one : channels_) one->interrupt();
    detail::completes(event, seconds_to_end, [] {});  // its kernels then name the silent process
    look();
    failure_ = detail::no_answer(rank_, size_, seconds_);
    stop();
    throw Exception(SPTILE_STATUS_IO, failure_);
  }

  template <class T, class M>
  class HaloRows;

 private:
  class Channel;
  using Memory = detail::CudaArray<std::byte, false>;

  static constexpr double seconds_to_end = 1, seconds_to_try = 5;

  /// Memory that this process no longer uses, of a channel with this number. Other processes may map it.
  struct Retired {
    std::int64_t channel;
    Memory memory;
  };

  /// Message of a process at construction.
  struct Hello : detail::Outcome {
    std::array<char, 64> host = {};
  };

  /// Message of a process that offers memory.
  struct Offer : detail::Outcome {
    cudaIpcMemHandle_t handle = {};
    std::int64_t oldest = 0;  // number of its first channel that is open
  };

  /// Checks that all processes run on one host.
  void meet() {
    Hello mine;
    const std::vector<Hello> all = detail::attempt(group_, mine, [&] {
      detail::check(cudaGetDevice(&ordinal_), "cudaGetDevice");
      std::ifstream("/proc/sys/kernel/random/boot_id").getline(mine.host.data(), std::ssize(mine.host));
      if (mine.host.front() == '\0')
        throw Exception(SPTILE_STATUS_UNSUPPORTED, "cannot identify its host; use NcclExchange");
    });
    for (std::size_t r = 0; r < all.size(); ++r)
      if (all[r].host != all.front().host)
        detail::refuse(r, SPTILE_STATUS_UNSUPPORTED,
                       "runs on another host than rank 0; PeerExchange requires one host, use NcclExchange");
  }

  /// Delivers a row between all devices.
  void try_out() {
    std::vector<std::int64_t> offset(static_cast<std::size_t>(size_ + 1));
    for (std::size_t p = 0; p < static_cast<std::size_t>(size_); ++p)
      offset[p + 1] = offset[p] + (static_cast<std::int64_t>(p) == rank_ ? 0 : 1);
    const std::vector<std::int32_t> first_row(static_cast<std::size_t>(offset.back()));
    std::optional<detail::CudaStream> stream;
    std::optional<Channel> channel;
    detail::Outcome mine;
    detail::attempt(group_, mine, [&] {
      stream.emplace();
      channel.emplace(*this, offset, offset, first_row, sizeof(std::int64_t));
    });
    channel->connect();
    const double limit = std::exchange(seconds_, std::min(seconds_, seconds_to_try));
    detail::attempt(group_, mine, [&] {
      detail::CudaArray<std::int64_t, false> source(1);
      std::vector<std::int64_t> arrived(first_row.size());
      detail::CudaEvent sent;
      detail::check(cudaMemcpy(source.data(), &rank_, sizeof rank_, cudaMemcpyHostToDevice), "cudaMemcpy");
      detail::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
      channel->start(source.data(), stream->get());
      sent.record(stream->get());
      try {
        wait(sent.get());
      } catch (const Exception& e) {
        throw Exception(SPTILE_STATUS_UNSUPPORTED, std::string(e.what()) + undelivered);
      }
      if (!arrived.empty())
        detail::check(cudaMemcpy(arrived.data(), channel->received(), arrived.size() * sizeof arrived[0],
                                 cudaMemcpyDeviceToHost),
                      "cudaMemcpy");
      for (std::int64_t p = 0, i = 0; p < size_; ++p)
        if (p != rank_ && arrived[static_cast<std::size_t>(i++)] != p)
          throw Exception(SPTILE_STATUS_UNSUPPORTED,
                          "wrong data from rank " + std::to_string(p) + undelivered);
    });
    seconds_ = limit;
  }
  static constexpr const char* undelivered = " (rows do not arrive by peer access; use NcclExchange)";

  /// Frees memory of earlier channels if no process maps it. Otherwise it stays until this process exits.
  void leave(bool unmapped) {
    for (Retired& one : retired_)
      if (!unmapped) one.memory.leak();
    retired_.clear();
  }

  /// Fails all exchanges of this process and those that other processes wait in.
  void stop() noexcept {
    for (Channel* const one : channels_) one->stop();
  }

  [[nodiscard]] bool is_unwinding() const { return std::uncaught_exceptions() > exceptions_; }

  void check_device() const {
    int ordinal = 0;
    detail::check(cudaGetDevice(&ordinal), "cudaGetDevice");
    if (ordinal != ordinal_)
      throw Exception(SPTILE_STATUS_USAGE, "CUDA device " + std::to_string(ordinal) + " is current, but " +
                                               std::to_string(ordinal_) +
                                               " was when the PeerExchange was created; make it current");
  }

  G& group_;
  std::int64_t rank_, size_;
  double seconds_;
  int ordinal_ = 0, exceptions_ = std::uncaught_exceptions();
  std::int64_t created_ = 0;        // channels so far, the same in all processes
  std::vector<Channel*> channels_;  // open ones, by number
  std::vector<Retired> retired_;
  std::string failure_;
};

/// Rows in one direction: memory that the other devices write to. It contains a word for each process, a
/// mark, and then the received rows.
template <Group G>
class PeerExchange<G>::Channel {
 public:
  /// Allocates memory. Rows `rows` of the source are sent, or all in order if it is empty; those for and from
  /// process p are at offsets[p] to offsets[p + 1].
  Channel(PeerExchange& exchange, std::span<const std::int64_t> sent, std::span<const std::int64_t> received,
          std::span<const std::int32_t> rows, std::size_t row_bytes)
      : exchange_(exchange),
        sent_(sent.begin(), sent.end()),
        received_(received.begin(), received.end()),
        row_bytes_(row_bytes),
        head_bytes_(whole(static_cast<std::size_t>(exchange.size_ + 1) * sizeof(std::uint64_t), alignment)),
        memory_(whole(head_bytes_ + static_cast<std::size_t>(received_.back()) * row_bytes, shared_bytes)),
        rows_(rows.size()),
        state_(state_words),
        fault_(1) {
    exchange.check_device();
    *fault_.data() = 0;
    const std::vector<std::int64_t> wide(rows.begin(), rows.end());
    if (!wide.empty())
      detail::check(
          cudaMemcpy(rows_.data(), wide.data(), wide.size() * sizeof wide[0], cudaMemcpyHostToDevice),
          "cudaMemcpy");
    detail::check(cudaMemsetAsync(memory_.data(), 0, head_bytes_, nullptr), "cudaMemsetAsync");
    detail::check(cudaMemsetAsync(state_.data(), 0, state_words * sizeof(std::uint64_t), nullptr),
                  "cudaMemsetAsync");
    detail::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;
  ~Channel() {
    if (number_ < 0) return;  // no process maps the memory
    if (exchange_.is_unwinding()) {
      stop();
      if (exchange_.failure_.empty())
        exchange_.failure_ = "an exception has ended the exchanges of a product";
    }
    cudaDeviceSynchronize();  // kernels of the channel end within the time limit
    hear();
    std::erase(exchange_.channels_, this);
    for (void* const one : mapped_) cudaIpcCloseMemHandle(one);
    exchange_.retired_.push_back({number_, std::move(memory_)});
  }

  /// Maps the memory of the other devices. Collective.
  void connect() {
    number_ = exchange_.created_++;
    exchange_.channels_.push_back(this);
    Offer mine;
    mine.oldest = exchange_.channels_.front()->number_;
    const std::uint64_t mark = mark_of(exchange_.rank_);
    const std::vector<Offer> offers = detail::attempt(exchange_.group_, mine, [&] {
      detail::check(cudaMemcpy(words() + exchange_.size_, &mark, sizeof mark, cudaMemcpyHostToDevice),
                    "cudaMemcpy");
      detail::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
      supported(cudaIpcGetMemHandle(&mine.handle, memory_.data()), "cudaIpcGetMemHandle");
    });
    std::int64_t oldest = number_;
    for (const Offer& one : offers) oldest = std::min(oldest, one.oldest);
    std::erase_if(exchange_.retired_, [&](const Retired& one) { return one.channel < oldest; });
    std::vector<std::int64_t> places(received_.size() * offers.size());
    exchange_.group_.all_gather(received_.data(), received_.size() * sizeof received_[0], places.data());
    detail::Outcome outcome;
    detail::attempt(exchange_.group_, outcome, [&] { map(offers, places); });
  }

  void start(const void* source, void* stream) {
    if (!exchange_.failure_.empty()) throw Exception(SPTILE_STATUS_IO, exchange_.failure_);
    stream_ = stream;
    run(source, 0);
  }

  [[nodiscard]] std::byte* received() { return memory_.data() + head_bytes_; }

  /// Returns the error of a failed exchange, "" if there is none.
  [[nodiscard]] std::string fault() {
    const std::int32_t found = fault_word();
    if (found == 0 || found == interrupted) return "";
    const auto peer = neighbors_[static_cast<std::size_t>(found > 0 ? found - 1 : -1 - found)];
    const auto rank = static_cast<long long>(exchange_.rank_), size = static_cast<long long>(exchange_.size_);
    char text[160];
    if (found > 0)
      std::snprintf(text, sizeof text,
                    "rank %lld of %lld: no rows from rank %lld within %g s; it has ended, hangs or runs a "
                    "different call",
                    rank, size, static_cast<long long>(peer), exchange_.seconds_);
    else
      std::snprintf(text, sizeof text, "rank %lld of %lld: rank %lld has stopped after an error", rank, size,
                    static_cast<long long>(peer));
    return text;
  }

  /// Ends exchanges that wait for other processes.
  void interrupt() {
    if (fault_word() == 0) std::atomic_ref(*fault_.data()).store(interrupted);
  }

  /// Ends the exchanges of this channel in all processes, once.
  void stop() noexcept {
    if (std::exchange(stopped_, true)) return;
    interrupt();
    try {
      run(nullptr, 1);
    } catch (const Exception&) {  // the others reach their time limit
    }
  }

 private:
  /// Reads whether a process has stopped, which then does not meet this one again.
  void hear() {
    std::vector<std::uint64_t> values(static_cast<std::size_t>(exchange_.size_));
    if (cudaMemcpy(values.data(), words(), values.size() * sizeof values[0], cudaMemcpyDeviceToHost) !=
        cudaSuccess)
      return;
    for (std::size_t p = 0; p < values.size(); ++p)
      if (values[p] == stopped_word && exchange_.failure_.empty())
        exchange_.failure_ = "rank " + std::to_string(p) + " has stopped after an error";
  }

  static constexpr std::uint64_t stopped_word = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::size_t alignment = 256, state_words = 4;
  /// Smaller allocations share memory, and the handle of one maps all of it from its base.
  static constexpr std::size_t shared_bytes = std::size_t{1} << 21;
  static constexpr std::int32_t interrupted = std::numeric_limits<std::int32_t>::min();

  /// Rounds up to a multiple.
  static constexpr std::size_t whole(std::size_t bytes, std::size_t unit) {
    return (bytes + unit - 1) / unit * unit;
  }

  static void supported(cudaError_t code, const std::string& call) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // clears the status
    throw Exception(SPTILE_STATUS_UNSUPPORTED,
                    call + ": " + cudaGetErrorString(code) +
                        "; this device cannot map the memory of another process, use "
                        "NcclExchange");
  }

  [[nodiscard]] std::uint64_t* words() { return reinterpret_cast<std::uint64_t*>(memory_.data()); }
  [[nodiscard]] std::int32_t fault_word() { return std::atomic_ref(*fault_.data()).load(); }
  [[nodiscard]] std::uint64_t mark_of(std::int64_t rank) const {
    return static_cast<std::uint64_t>(number_) << 32U | static_cast<std::uint64_t>(rank + 1);
  }

  void map(const std::vector<Offer>& offers, const std::vector<std::int64_t>& places) {
    std::vector<sptile_peer> peers;
    for (std::int64_t i = 1; i < exchange_.size_; ++i) {
      const std::int64_t q = (exchange_.rank_ + i) % exchange_.size_;
      const auto at = static_cast<std::size_t>(q);
      // Both processes of a pair are neighbors, or neither: each waits for the other.
      if (sent_[at] == sent_[at + 1] && received_[at] == received_[at + 1]) continue;
      void* there = nullptr;
      const std::string call = "cudaIpcOpenMemHandle of rank " + std::to_string(q);
      supported(cudaIpcOpenMemHandle(&there, offers[at].handle, cudaIpcMemLazyEnablePeerAccess), call);
      mapped_.push_back(there);
      neighbors_.push_back(q);
      auto* const their_words = static_cast<std::uint64_t*>(there);
      std::uint64_t mark = 0;
      detail::check(cudaMemcpy(&mark, their_words + exchange_.size_, sizeof mark, cudaMemcpyDeviceToHost),
                    "cudaMemcpy");
      if (mark != mark_of(q))
        throw Exception(SPTILE_STATUS_UNSUPPORTED,
                        call + " maps other memory than was offered; use NcclExchange");
      const std::int64_t place = places[at * received_.size() + static_cast<std::size_t>(exchange_.rank_)];
      peers.push_back(
          {static_cast<std::byte*>(there) + head_bytes_ + static_cast<std::size_t>(place) * row_bytes_,
           their_words + exchange_.rank_, words() + q, sent_[at], sent_[at + 1]});
    }
    peers_ = detail::CudaArray<sptile_peer, false>(peers.size());
    if (!peers.empty())
      detail::check(
          cudaMemcpy(peers_.data(), peers.data(), peers.size() * sizeof peers[0], cudaMemcpyHostToDevice),
          "cudaMemcpy");
    detail::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  void run(const void* source, std::int32_t stop) {
    sptile_row_exchange e = SPTILE_ROW_EXCHANGE_INIT;
    e.peers = peers_.data();
    e.rows = rows_.data();
    e.source = source;
    e.state = state_.data();
    e.fault = fault_.data();
    e.row_count = sent_.back();
    e.row_bytes = e.stride_bytes = static_cast<std::int64_t>(row_bytes_);
    e.timeout_ns = static_cast<std::uint64_t>(exchange_.seconds_ * 1e9);
    e.peer_count = static_cast<std::int32_t>(neighbors_.size());
    e.ordinal = exchange_.ordinal_;
    e.stop = stop;
    sptile::detail::check(sptile_exchange_rows(&e, stream_));
  }

  PeerExchange& exchange_;
  std::vector<std::int64_t> sent_, received_;
  std::size_t row_bytes_, head_bytes_;
  Memory memory_;
  detail::CudaArray<std::int64_t, false> rows_;
  detail::CudaArray<std::uint64_t, false> state_;
  detail::CudaArray<std::int32_t, true> fault_;
  std::int64_t number_ = -1;
  std::vector<std::int64_t> neighbors_;
  std::vector<void*> mapped_;
  detail::CudaArray<sptile_peer, false> peers_;
  void* stream_ = nullptr;
  bool stopped_ = false;
};

/// Halo rows in memory that the other devices write to; see detail::HaloRows.
template <Group G>
template <class T, class M>
class PeerExchange<G>::HaloRows {
 public:
  HaloRows(PeerExchange& exchange, M&, const typename M::template SentRows<T>&, const Part& part,
           std::int64_t n, bool both)
      : received_(part.needed() * n),
        returned_(part.send_offset().back() * n),
        fetch_(exchange, part.send_offset(), part.receive_offset(), part.send_rows(), row_bytes(n)) {
    if (both) give_back_.emplace(exchange, part.receive_offset(), part.send_offset(), no_rows, row_bytes(n));
  }

  void connect() {
    fetch_.connect();
    if (give_back_) give_back_->connect();
  }
  void fetch(const T* b, void* stream) { fetch_.start(b, stream); }
  void give_back(void* stream) { give_back_->start(received().data(), stream); }
  static void finish() {}
  [[nodiscard]] std::span<T> received() { return rows(fetch_, received_); }
  [[nodiscard]] std::span<T> returned() { return rows(*give_back_, returned_); }

 private:
  static constexpr std::span<const std::int32_t> no_rows = {};

  static std::size_t row_bytes(std::int64_t n) { return static_cast<std::size_t>(n) * sizeof(T); }
  static std::span<T> rows(Channel& channel, std::int64_t elements) {
    return {reinterpret_cast<T*>(channel.received()), static_cast<std::size_t>(elements)};
  }

  std::int64_t received_, returned_;  // elements
  Channel fetch_;
  std::optional<Channel> give_back_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
