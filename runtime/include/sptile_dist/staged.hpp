// Exchange of rows in device memory through an exchange of host memory.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sptile_dist/cuda.hpp"
#include "sptile_dist/exchange.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {

/// Exchanges device memory with an exchange of host memory: through pinned memory, or directly if it accepts
/// device memory (takes_device_memory, exchange_device_memory; MpiExchange). The host waits for the rows
/// while the device computes the local product.
template <Exchange E>
class StagedExchange {
 public:
  /// Borrows the exchange.
  explicit StagedExchange(E& exchange) : host_(exchange) {
    if constexpr (can_be_direct) direct_ = exchange.takes_device_memory();
  }

  [[nodiscard]] std::int64_t rank() const { return host_.rank(); }
  [[nodiscard]] std::int64_t size() const { return host_.size(); }
  /// Returns whether rows are exchanged without staging.
  [[nodiscard]] bool direct() const { return direct_; }
  void all_gather(const void* from, std::size_t bytes, void* to) { host_.all_gather(from, bytes, to); }

  void start(const void* from, std::span<const std::int64_t> from_offset, void* to,
             std::span<const std::int64_t> to_offset, std::size_t row_bytes, void* stream) {
    under_way_ = {from, to, from_offset, to_offset, row_bytes, detail::stream_of(stream)};
    if (direct_) return;
    const std::size_t leaving = bytes(from_offset), arriving = bytes(to_offset);
    if (sent_.size() < leaving) sent_ = Pinned(leaving);
    if (received_.size() < arriving) received_ = Pinned(arriving);
    copy(sent_.data(), from, leaving, cudaMemcpyDeviceToHost);
  }

  void finish() {
    detail::check(cudaStreamSynchronize(under_way_.stream), "cudaStreamSynchronize");
    const auto& [from, to, from_offset, to_offset, row_bytes, stream] = under_way_;
    if constexpr (can_be_direct)
      if (direct_) return host_.exchange_device_memory(from, from_offset, to, to_offset, row_bytes);
    host_.start(sent_.data(), from_offset, received_.data(), to_offset, row_bytes);
    host_.finish();
    copy(to, received_.data(), bytes(to_offset), cudaMemcpyHostToDevice);
  }

  /// Waits for the device only: the exchange itself has completed.
  static void wait(void* event) {
    detail::check(cudaEventSynchronize(static_cast<cudaEvent_t>(event)), "cudaEventSynchronize");
  }

 private:
  using Pinned = detail::CudaArray<std::byte, true>;
  static constexpr bool can_be_direct = requires(E & e) { e.takes_device_memory(); };

  struct UnderWay {
    const void* from = nullptr;
    void* to = nullptr;
    std::span<const std::int64_t> from_offset, to_offset;
    std::size_t row_bytes = 0;
    cudaStream_t stream = nullptr;
  };

  [[nodiscard]] std::size_t bytes(std::span<const std::int64_t> offset) const {
    return static_cast<std::size_t>(offset.back()) * under_way_.row_bytes;
  }
  void copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind) const {
    if (size > 0) detail::check(cudaMemcpyAsync(to, from, size, kind, under_way_.stream), "cudaMemcpyAsync");
  }

  E& host_;
  bool direct_ = false;
  UnderWay under_way_;
  Pinned sent_, received_;
};

}  // namespace dist
}  // namespace v1
}  // namespace sptile
