// Byte streams of MAT-files, whose elements are nested and may be deflated.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "formats/core/buffer.hpp"
#include "formats/core/error.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

/// Sequential stream of a bounded number of bytes.
class MatBytes {
 public:
  /// Reads the rest of a file; `input` must outlive this object.
  explicit MatBytes(InputBytes& input);
  /// Inflates the next `stored` bytes of a file.
  MatBytes(InputBytes& input, std::int64_t stored);
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;
  ~MatBytes();

  /// Fills `out`. Errc::bad_input if the stream ends early or is damaged.
  Status read(std::span<char> out);
  Status skip(std::int64_t bytes);
  /// Skips the bytes after the data.
  Status finish();
  /// Records that `bytes` bytes were read from the input directly.
  void passed(std::int64_t bytes) { left_ -= bytes; }
  /// Returns the maximum number of bytes left.
  [[nodiscard]] std::int64_t left() const { return left_; }

 private:
  Result<std::int64_t> read_stored(std::span<char> out);
  [[nodiscard]] tl::unexpected<Error> damaged(const std::string& what) const;

  InputBytes& input_;
  std::int64_t left_ = 0;
  std::int64_t stored_ = 0;  // deflated bytes left to read
  std::unique_ptr<z_stream> inflating_;
  Buffer<char> piece_;
};

}  // namespace sptile::formats
