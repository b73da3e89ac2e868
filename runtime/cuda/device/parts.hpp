// Several arrays of the host in one allocation of a device.
#pragma once

#include <cstddef>
#include <vector>

#include "formats/core/array_view.hpp"
#include "runtime/cuda/device/upload.hpp"

namespace sptile::runtime::cuda {

/// Bytes of a part with what comes before the next one.
constexpr std::size_t whole_parts(std::size_t bytes) { return (bytes + 255) / 256 * 256; }

/// Parts of one device allocation: placed first, then uploaded.
class Parts {
 public:
  /// Gives the part's offset.
  std::size_t add(const void* from, std::size_t bytes) {
    parts_.push_back({from, bytes, total_});
    total_ += whole_parts(bytes);
    return parts_.back().offset;
  }
  std::size_t add(const ArrayView& array) { return add(array.data, static_cast<std::size_t>(array.bytes())); }
  [[nodiscard]] std::size_t total() const { return total_; }

  /// Kernels that copy whole pieces read a little around a part: what stands there is defined, too.
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
