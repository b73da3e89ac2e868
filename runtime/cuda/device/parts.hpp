// Upload of several host arrays into one device allocation.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/core/array_view.hpp"
#include "runtime/cuda/device/upload.hpp"

namespace sptile::runtime::cuda {

/// Returns the bytes of an array, padded to the start of the next one.
constexpr std::size_t whole_parts(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Arrays in one device allocation: added first, then uploaded.
class Parts {
 public:
  /// Returns the offset of the array.
  std::size_t add(const void* from, std::size_t bytes) {
    parts_.push_back({from, bytes, total_});
    total_ += whole_parts(bytes);
    return parts_.back().offset;
  }
  std::size_t add(const ArrayView& array) { return add(array.data, static_cast<std::size_t>(array.bytes())); }
  [[nodiscard]] std::size_t total() const { return total_; }

  /// Kernels that copy whole blocks read slightly past an array, so the padding is defined.
  Status upload(std::byte* to, Uploader& uploader) const {
    for (const Part& part : parts_) {
      std::byte* const end = to + part.offset + part.bytes;
      if (Status s = uploader.copy(to + part.offset, part.from, part.bytes); !s) return s;
      if (Status s = uploader.pad(end, whole_parts(part.bytes) - part.bytes); !s) return s;
    }
    return {};
  }

 private:
  struct Part {
    const void* from;
    std::size_t bytes, offset;
  };

  std::vector<Part> parts_;
  std::size_t total_ = 0;
};

}  // namespace sptile::runtime::cuda
