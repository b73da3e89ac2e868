// Several arrays of the host in one allocation of a device.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/array_view.hpp"
#include "runtime/cuda/device/upload.hpp"

namespace sptile::runtime::cuda {

/// Parts of one device allocation: placed first, then uploaded.
class Parts {
 public:
  /// Gives the part's offset.
  std::size_t add(const void* from, std::size_t bytes) {
    parts_.push_back({from, bytes, total_});
    total_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return parts_.back().offset;
  }
  std::size_t add(const ArrayView& array) { return add(array.data, static_cast<std::size_t>(array.bytes())); }
  [[nodiscard]] std::size_t total() const { return total_; }

  /// Kernels that copy whole pieces read a little around a part: what stands there is defined, too.
  Status upload(std::byte* to, Uploader& uploader) const {
    for (const Part& part : parts_) {
      std::byte* const end = to + part.offset + part.bytes;
      if (Status s = uploader.copy(to + part.offset, part.from, part.bytes); !s) return s;
      if (Status s = uploader.pad(end, (kAlignment - part.bytes % kAlignment) % kAlignment); !s) return s;
    }
    return {};
  }

 private:
  struct Part {
    const void* from;
    std::size_t bytes, offset;
  };
  static constexpr std::size_t kAlignment = 256;

  std::vector<Part> parts_;
  std::size_t total_ = 0;
};

}  // namespace sptile::runtime::cuda
