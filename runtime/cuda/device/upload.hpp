// Uploads of any host memory through pinned memory in stages, some of which are filled while others are in
// flight.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

struct UploadLane;  // stream and events of one device

/// Uploads to the current device on a separate stream per device. Pinned memory and streams belong to the
/// process and are never freed, because creating them costs more than most copies. One uploader at a time
/// uses them; others wait.
class Uploader {
 public:
  Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;
  ~Uploader();

  /// Enqueues a copy; `from` may change afterwards. Contiguous copies are merged until a stage is full enough
  /// to send.
  Status copy(void* to, const void* from, std::size_t bytes);

  /// Writes zeros between copies.
  Status pad(void* to, std::size_t bytes);

  /// Enqueues filling with zeros.
  Status clear(void* to, std::size_t bytes);

  /// Sends pending copies, before work that is then enqueued on `stream`. Required before copies to another
  /// allocation: two allocations may be adjacent, and the driver rejects a copy across both.
  Status send();

  /// Sends pending copies and waits for the stream.
  Status finish();

  [[nodiscard]] cudaStream_t stream() const;
  /// Returns a number that the device may write, initially 0.
  [[nodiscard]] std::uint32_t* flag() const;

 private:
  template <class Fill>
  Status gather(std::byte* to, std::size_t bytes, const Fill& fill);
  Status turn();

  Status ready_;
  UploadLane* lane_ = nullptr;
  int stage_ = 0;
  std::size_t sent_ = 0, filled_ = 0;  ///< bytes of the stage
  std::size_t limit_;                  ///< bytes of the stage
  std::byte* to_ = nullptr;            ///< device address of the pending bytes
  bool idle_ = true;                   ///< no work since the last wait
};

}  // namespace sptile::runtime::cuda
