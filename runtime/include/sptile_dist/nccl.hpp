// Exchange between CUDA devices over NCCL.
#pragma once

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/agreement.hpp"
#include "sptile_dist/cuda.hpp"
#include "sptile_dist/exchange.hpp"

#if NCCL_VERSION_CODE < NCCL_VERSION(2, 17, 0)
#error "sptile_dist requires NCCL 2.17 or later (bounds of non-blocking communicators)"
#endif

namespace sptile {
inline namespace v1 {
namespace dist {

/// An exchange over NCCL (grouped ncclSend and ncclRecv) from the CUDA device that is current at
/// construction. Small messages in host memory go through `group` (an MpiExchange, or another group with
/// all_gather), which is borrowed. No call blocks for longer than `seconds`: if a process has exited or does
/// not answer, the communicator is aborted, and SPTILE_STATUS_IO is thrown here and by all later calls.
///
/// NCCL's kernels occupy up to `max_ctas` multiprocessors while the local product runs. A low bound makes
/// exchanges slower and products faster. 0, the default, is NCCL's own choice, which fills the links of each
/// machine; DeviceExchange measures which bound is faster.
template <Group G>
class NcclExchange {
 public:
  static constexpr bool capturable = true;

  explicit NcclExchange(G& group, double seconds = 600, int max_ctas = 0)
      : group_(group), rank_(group.rank()), size_(group.size()), seconds_(seconds), max_ctas_(max_ctas) {
    Hello mine;
    mine.max_ctas = max_ctas;
    mine.cuda = cudaGetDevice(&mine.ordinal);
    if (rank_ == 0 && mine.cuda == cudaSuccess) mine.nccl = ncclGetUniqueId(&mine.id);
    const std::vector<Hello> all = detail::gathered(group, mine);
    for (std::size_t r = 0; r < all.size(); ++r) {
      const std::string who = "rank " + std::to_string(r) + ": ";
      if (all[r].cuda != cudaSuccess)
        throw Exception(SPTILE_STATUS_DEVICE, who + "cudaGetDevice: " + cudaGetErrorString(all[r].cuda));
      if (all[r].nccl != ncclSuccess)
        throw Exception(SPTILE_STATUS_IO, who + "ncclGetUniqueId: " + ncclGetErrorString(all[r].nccl));
      if (all[r].max_ctas < 0 || all[r].max_ctas != all.front().max_ctas)
        throw Exception(SPTILE_STATUS_USAGE, who + "max_ctas = " + std::to_string(all[r].max_ctas) +
                                                 "; expected the same bound in all processes, or 0");
    }
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    if (max_ctas > 0) config.maxCTAs = max_ctas;
    settle("ncclCommInitRankConfig",
           ncclCommInitRankConfig(&communicator_, static_cast<int>(size_), all.front().id,
                                  static_cast<int>(rank_), &config));
  }
  NcclExchange(const NcclExchange&) = delete;
  NcclExchange& operator=(const NcclExchange&) = delete;
  /// Waits for the other processes, because aborting would cancel data that they still receive. During stack
  /// unwinding the wait is short: if all processes throw, they arrive at the same time.
  ~NcclExchange() {
    if (communicator_ == nullptr) return;
    if (std::uncaught_exceptions() > exceptions_) seconds_ = std::min(seconds_, 5.0);
    try {
      settle("ncclCommFinalize", ncclCommFinalize(communicator_));
      ncclCommDestroy(communicator_);
    } catch (const Exception&) {  // aborted
    }
  }

  [[nodiscard]] std::int64_t rank() const { return rank_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] int max_ctas() const { return max_ctas_; }

  void all_gather(const void* from, std::size_t bytes, void* to) { group_.all_gather(from, bytes, to); }

  void start(const void* from, std::span<const std::int64_t> from_offset, void* to,
             std::span<const std::int64_t> to_offset, std::size_t row_bytes, void* stream) {
    need_communicator();
    ncclResult_t result = ncclGroupStart();
    const auto post = [&](ncclResult_t posted) {
      if (result == ncclSuccess && posted != ncclInProgress) result = posted;
    };
    for (std::size_t p = 0; p < static_cast<std::size_t>(size_); ++p) {
      const Piece leaving(from_offset, p, row_bytes), arriving(to_offset, p, row_bytes);
      const cudaStream_t side = detail::stream_of(stream);
      if (leaving.bytes > 0)
        post(ncclSend(static_cast<const std::byte*>(from) + leaving.at, leaving.bytes, ncclUint8,
                      static_cast<int>(p), communicator_, side));
      if (arriving.bytes > 0)
        post(ncclRecv(static_cast<std::byte*>(to) + arriving.at, arriving.bytes, ncclUint8,
                      static_cast<int>(p), communicator_, side));
    }
    const ncclResult_t ended = ncclGroupEnd();
    settle("ncclSend and ncclRecv", result == ncclSuccess ? ended : result);
  }

  /// Does nothing: the exchange is entirely stream work.
  static void finish() {}

  /// Waits until the event has completed.
  void wait(void* event) {
    if (!detail::completes(event, seconds_, [this] { look(); })) expire();
  }
  /// Throws if another process has failed.
  void look() {
    need_communicator();
    ncclResult_t state = ncclSuccess;
    settle("the exchange of rows",
           ncclCommGetAsyncError(communicator_, &state) == ncclSuccess ? state : ncclInternalError);
  }
  /// Aborts the communicator, which ends its kernels that wait for other processes.
  void abort() noexcept {
    if (communicator_ != nullptr) ncclCommAbort(std::exchange(communicator_, nullptr));
  }
  /// Aborts the communicator after the time limit, and throws.
  [[noreturn]] void expire() { fail(detail::no_answer(rank_, size_, seconds_)); }

 private:
  /// Message that processes exchange before the communicator exists.
  struct Hello {
    ncclUniqueId id = {};
    cudaError_t cuda = cudaSuccess;
    ncclResult_t nccl = ncclSuccess;
    int ordinal = 0, max_ctas = 0;
  };

  /// Bytes sent to or received from one process.
  struct Piece {
    Piece(std::span<const std::int64_t> offset, std::size_t p, std::size_t row_bytes)
        : at(static_cast<std::size_t>(offset[p]) * row_bytes),
          bytes(static_cast<std::size_t>(offset[p + 1] - offset[p]) * row_bytes) {}
    std::size_t at, bytes;
  };

  /// Waits until a nonblocking call has succeeded.
  void settle(const char* call, ncclResult_t result) {
    const detail::Deadline deadline(seconds_);
    for (detail::Pause pause; result == ncclInProgress; pause()) {
      if (deadline.over()) fail(detail::no_answer(rank_, size_, seconds_) + " (" + call + ")");
      if (ncclCommGetAsyncError(communicator_, &result) != ncclSuccess) result = ncclInternalError;
    }
    if (result != ncclSuccess)
      fail("rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ": " + call + ": " +
           ncclGetErrorString(result) + ": " + ncclGetLastError(communicator_));
  }

  void need_communicator() const {
    if (communicator_ == nullptr)
      throw Exception(SPTILE_STATUS_IO, "rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                                            ": the NCCL communicator was aborted by an earlier error");
  }

  [[noreturn]] void fail(const std::string& why) {
    abort();
    throw Exception(SPTILE_STATUS_IO, why);
  }

  G& group_;
  std::int64_t rank_, size_;
  double seconds_;
  int max_ctas_;
  int exceptions_ = std::uncaught_exceptions();
  ncclComm_t communicator_ = nullptr;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
