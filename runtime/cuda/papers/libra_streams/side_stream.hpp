// A second stream for concurrent kernels, created once when planning.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <mutex>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

/// A stream that temporarily follows another one. Thread-safe; the work of several threads is serialized on
/// it. Neither allocates nor waits.
class SideStream {
 public:
  /// Creates a stream on the current device. Errc::device if resources are insufficient.
  static Result<std::unique_ptr<SideStream>> make();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream();

  /// Enqueues `here` on the stream and `there` concurrently: both follow all earlier work of the stream, and
  /// later work follows both. Each takes a stream and returns a cudaError_t. If the stream is being captured
  /// in a graph, both are captured; if another capture uses the side stream, `there` runs after `here`.
  template <class Here, class There>
  int run(cudaStream_t main, const Here& here, const There& there) {
    const std::lock_guard lock(mutex_);
    if (!may_follow(main)) {
      const int code = here(main);
      return code != cudaSuccess ? code : there(main);
    }
    if (const int code = fork(main); code != cudaSuccess) return code;
    const int there_code = there(stream_), here_code = here(main), join_code = join(main);
    if (there_code != cudaSuccess) return there_code;
    return here_code != cudaSuccess ? here_code : join_code;
  }

 private:
  SideStream() = default;
  [[nodiscard]] bool may_follow(cudaStream_t main) const;
  int fork(cudaStream_t main);
  int join(cudaStream_t main);

  std::mutex mutex_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t forked_ = nullptr, joined_ = nullptr;
};

/// Returns the resources of a plan that may run on two streams: a SideStream, or null if `wanted` is false.
inline Result<std::shared_ptr<void>> side_stream_if(bool wanted) {
  if (!wanted) return std::shared_ptr<void>();
  auto side = SideStream::make();
  if (!side) return tl::unexpected(side.error());
  return std::shared_ptr<SideStream>(std::move(*side));
}

/// Enqueues both parts of a product: concurrently with a side stream, otherwise the rows after the tiles.
/// Returns a cudaError_t.
template <class Tiles, class Rows>
int run_parts(SideStream* side, cudaStream_t main, const Tiles& tiles, const Rows& rows) {
  if (side != nullptr) return side->run(main, tiles, rows);
  const int code = tiles(main);
  return code != cudaSuccess ? code : rows(main);
}

}  // namespace sptile::runtime::cuda
