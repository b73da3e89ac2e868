// Copies host memory of any kind to the device through pinned memory, two halves in turn: one is filled while
// the other is on its way.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

#include "formats/error.hpp"

namespace sptile::runtime::cuda {

/// Uploads on a stream of its own to the current device. The pinned memory is one for the process and stays
/// until its end: pinning costs more than most copies. One uploader at a time has it; others wait.
class Uploader {
 public:
  Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;
  ~Uploader();

  /// Starts copying; `from` may change when this returns.
  Status copy(void* to, const void* from, std::size_t bytes);

  /// Starts filling with zeros.
  Status clear(void* to, std::size_t bytes);

  /// Waits for everything started so far.
  Status finish();

 private:
  Status turn();

  Status ready_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t sent_[2] = {};
  int half_ = 0;
  std::size_t used_ = 0;
};

}  // namespace sptile::runtime::cuda
