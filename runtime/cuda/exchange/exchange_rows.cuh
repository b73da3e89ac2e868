// Body of the kernel that exchanges rows between devices. `System` has the operations on memory that several
// devices share, so that tests run it on threads of the host.
#pragma once

#include "runtime/cuda/device/qualifiers.hpp"
#include "runtime/cuda/row_exchange.hpp"

namespace sptile::runtime::cuda {

// Protocol. Exchange k (from 0) of two peers is: each writes 2k + 1 into the word of the other, waits for
// 2k + 1 in its own word, writes its rows into the memory of the other, writes 2k + 2, and waits for 2k + 2.
//
// - Rows are not overwritten while they are read. A device writes 2k + 1 after all work that precedes
// exchange
//   k in its stream, which includes every read of the rows of exchange k - 1. One buffer per peer therefore
//   suffices, also for captured streams, whose addresses and number of steps do not alternate.
// - Rows are complete when they are read. The blocks of a device fence their writes and take a ticket; the
//   block with the last ticket writes 2k + 2 with release semantics at system scope, and the peer reads it
//   with acquire semantics.
// - No value is missed. A peer can be ahead by one phase only, because it waits for this device in every
// phase:
//   the word has the awaited value or the next one. Words only grow.
// - Devices cannot block each other: only the last block waits for 2k + 2, and block 0 writes 2k + 1 before
// it
//   waits, therefore no block waits for another block of its device.
// - All peers take part in both phases, even if no row goes to them or comes from them.
// - A device that stops writes kStopped, and so does one that has waited for too long. Waits for it end at
// once.

/// Rows that a group of lanes loads before it stores them.
inline constexpr int kRowsInFlight = 4;

/// Polls of a word between two polls of RowExchange::fault, which is in host memory.
inline constexpr int kPollsOfFault = 256;

/// Waits until the words of all peers are at least `value`, or the time is over, or the host has set the
/// fault. Threads share the peers. Returns the fault that this thread has found, 0 if none.
template <class System>
SPTILE_HOST_DEVICE std::int32_t await_peers(const RowExchange& e, std::uint64_t value, const System& system) {
  const std::uint64_t begin = system.nanoseconds();
  std::int32_t fault = 0;
  for (std::int32_t p = system.thread(); p < e.peer_count; p += system.threads()) {
    const std::uint64_t* const answer = e.peers[p].answer;
    std::uint64_t seen = system.acquire(answer);
    for (int polls = 1; seen < value && system.nanoseconds() - begin < e.timeout_ns; ++polls) {
      if (polls % kPollsOfFault == 0 && system.is_set(e.fault)) break;
      system.pause();
      seen = system.acquire(answer);
    }
    if (seen < value) fault = 1 + p;
    if (seen == kStopped) fault = -1 - p;
  }
  return fault;
}

/// Writes a value into the words of all peers. Threads share the peers.
template <class System>
SPTILE_HOST_DEVICE void signal_peers(const RowExchange& e, std::uint64_t value, const System& system) {
  for (std::int32_t p = system.thread(); p < e.peer_count; p += system.threads())
    system.release(e.peers[p].signal, value);
}

/// Copies rows to a peer. A group of `lanes` threads, a power of two, copies kRowsInFlight rows at a time.
template <class Piece, class System>
SPTILE_HOST_DEVICE void copy_rows(const RowExchange& e, const Peer& peer, int lanes, const System& system) {
  const std::int64_t pieces = e.row_bytes / std::int64_t{sizeof(Piece)};
  const std::int64_t stride = e.stride_bytes / std::int64_t{sizeof(Piece)};
  const auto* const source = static_cast<const Piece*>(e.source);
  auto* const to = static_cast<Piece*>(peer.rows);
  const std::int64_t thread = std::int64_t{system.threads()} * system.block() + system.thread();
  const std::int64_t groups = std::int64_t{system.threads()} * system.blocks() / lanes;
  const std::int64_t count = peer.last - peer.first;
  const int lane = static_cast<int>(thread % lanes);
  for (std::int64_t i = thread / lanes; i < count; i += kRowsInFlight * groups) {
    const Piece* from[kRowsInFlight] = {};
    for (int u = 0; u < kRowsInFlight; ++u) {
      const std::int64_t place = peer.first + i + u * groups;
      if (place < peer.last) from[u] = source + (e.rows == nullptr ? place : e.rows[place]) * stride;
    }
    for (std::int64_t c = lane; c < pieces; c += lanes) {
      Piece piece[kRowsInFlight] = {};
      for (int u = 0; u < kRowsInFlight; ++u)
        if (i + u * groups < count) piece[u] = from[u][c];
      for (int u = 0; u < kRowsInFlight; ++u)
        if (i + u * groups < count) to[(i + u * groups) * pieces + c] = piece[u];
    }
  }
}

/// Runs one block of an exchange. `Piece` is the largest type of 2, 4, 8 or 16 bytes that divides a row.
template <class Piece, class System>
SPTILE_HOST_DEVICE void exchange_block(const RowExchange& e, int lanes, const System& system) {
  const std::uint64_t begun = 2 * e.state[kSteps] + 1;
  const bool stops = e.stop || system.load(&e.state[kFailed]) != 0;
  if (system.block() == 0) signal_peers(e, stops ? kStopped : begun, system);
  std::int32_t fault = stops ? 0 : await_peers(e, begun, system);
  const bool failed = system.any(stops || fault != 0);
  if (!failed)
    for (std::int32_t p = 0; p < e.peer_count; ++p) copy_rows<Piece>(e, e.peers[p], lanes, system);
  if (failed) system.store(&e.state[kFailed], 1);
  if (!system.last_block(&e.state[kTickets])) {
    if (fault != 0) system.report(e.fault, fault);
    return;
  }
  const bool sent = !system.any(system.load(&e.state[kFailed]) != 0);
  signal_peers(e, sent ? begun + 1 : kStopped, system);
  if (sent) fault = await_peers(e, begun + 1, system);
  if (fault != 0) {
    system.report(e.fault, fault);
    system.store(&e.state[kFailed], 1);
  }
  if (system.thread() == 0) {
    e.state[kSteps] += 1;
    e.state[kTickets] = 0;
  }
}

}  // namespace sptile::runtime::cuda
