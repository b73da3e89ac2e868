// Copies host memory of any kind to the device through pinned memory, in stages: some are filled while others
// are on their way.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "formats/core/error.hpp"

namespace sptile::runtime::cuda {

struct UploadLane;  // a stream of one device, and its events

/// Uploads to the current device, on a stream that each device has for it. The pinned memory and the streams
/// are the process's and stay until its end: making them costs more than most copies. One uploader at a time
/// has them; others wait.
class Uploader {
 public:
  Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;
  ~Uploader();

  /// Copies; `from` may change when this returns. What stands together goes together, from the first copies
  /// on that make a stage worth sending.
  Status copy(void* to, const void* from, std::size_t bytes);

  /// Copies zeros: of what stands between copies.
  Status pad(void* to, std::size_t bytes);

  /// Starts filling with zeros.
  Status clear(void* to, std::size_t bytes);

  /// Sends what was copied: work that is enqueued on `stream` from now on finds it. Due before copies to
  /// another allocation: two of them may touch, and the driver refuses one copy across both.
  Status send();

  /// Sends, and waits for everything on the stream.
  Status finish();

  [[nodiscard]] cudaStream_t stream() const;
  /// A number that the device may write, 0 at first.
  [[nodiscard]] std::uint32_t* flag() const;

 private:
  template <class Fill>
  Status gather(std::byte* to, std::size_t bytes, const Fill& fill);
  Status turn();

  Status ready_;
  UploadLane* lane_ = nullptr;
  int stage_ = 0;
  std::size_t sent_ = 0, filled_ = 0;  ///< bytes of the stage
  std::size_t limit_;                  ///< of the stage
  std::byte* to_ = nullptr;            ///< where what is filled, but not sent, begins on the device
  bool idle_ = true;                   ///< nothing was enqueued since the last wait
};

}  // namespace sptile::runtime::cuda
