// The bytes of a MAT-file: nested elements, some of them deflated.
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

/// Bytes that are read from the front to the back and whose number is bounded.
class MatBytes {
 public:
  /// All that is left of a file; `input` must outlive it.
  explicit MatBytes(InputBytes& input);
  /// Inflates the next `stored` bytes of a file.
  MatBytes(InputBytes& input, std::int64_t stored);
  MatBytes(const MatBytes&) = delete;
  MatBytes& operator=(const MatBytes&) = delete;
  ~MatBytes();

  /// Fills `out`. Errc::bad_input where the bytes end before that, or are damaged.
  Status read(std::span<char> out);
  Status skip(std::int64_t bytes);
  /// Skips what is stored behind the data.
  Status finish();
  /// Counts bytes that were read otherwise.
  void passed(std::int64_t bytes) { left_ -= bytes; }
  /// Bytes that there can be at most from here on.
  [[nodiscard]] std::int64_t left() const { return left_; }

 private:
  Result<std::int64_t> read_stored(std::span<char> out);
  [[nodiscard]] tl::unexpected<Error> damaged(const std::string& what) const;

  InputBytes& input_;
  std::int64_t left_ = 0;
  std::int64_t stored_ = 0;  // of deflated bytes: to be read
  std::unique_ptr<z_stream> inflating_;
  Buffer<char> piece_;
};

}  // namespace sptile::formats
