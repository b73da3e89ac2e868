// Exchange of rows between devices that map each other's memory.
#pragma once

#include <cstdint>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

/// A device that an exchange sends rows to or receives rows from; an element of a list in device memory.
struct Peer {
  void* rows = nullptr;                   ///< in the peer's memory: place of the rows from this device
  std::uint64_t* signal = nullptr;        ///< in the peer's memory: word that this device alone writes
  const std::uint64_t* answer = nullptr;  ///< in this device's memory: word that the peer alone writes
  std::int64_t first = 0, last = 0;       ///< rows to send, elements first to last - 1 of RowExchange::rows
};

/// Words of RowExchange::state, zero at first.
enum StateWord : std::uint8_t {
  kSteps,    ///< exchanges so far
  kTickets,  ///< blocks of the running exchange that have sent their rows
  kFailed,   ///< 1 once an exchange has failed; all later ones fail at once
  kStateWords,
};

/// Value of the word of a device that has stopped; larger than all others.
inline constexpr std::uint64_t kStopped = ~std::uint64_t{0};

/// Arguments of an exchange. `rows` is null if row i is sent in place i.
struct RowExchange {
  const Peer* peers = nullptr;
  const std::int64_t* rows = nullptr;
  const void* source = nullptr;
  std::uint64_t* state = nullptr;
  /// In host memory: 1 + index of a silent peer, or -1 - index of one that stopped. The host sets it to end
  /// the waits of this device.
  std::int32_t* fault = nullptr;
  std::int64_t row_bytes = 0;
  std::int64_t stride_bytes = 0;  ///< between rows of the source
  std::uint64_t timeout_ns = 0;
  std::int64_t row_count = 0;  ///< rows to send to all peers
  std::int32_t peer_count = 0;
  std::int32_t blocks = 0;  ///< maximum; 0: default
  std::int32_t ordinal = 0;
  bool stop = false;  ///< send kStopped instead of rows
};

/// Enqueues an exchange on a stream of device `ordinal`: waits until every peer has begun the same exchange,
/// and therefore no longer reads the rows of the previous one, writes the rows into the memory of the peers,
/// and waits for their rows.
Status exchange_rows(const RowExchange& exchange, void* stream);

/// Makes later work of stream `second` wait for the present work of `first`. Records `event`, a cudaEvent_t.
Status order_streams(int ordinal, void* first, void* second, void* event);

}  // namespace sptile::runtime::cuda
