// Decompressed bytes of an input that may be compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "formats/core/buffer.hpp"
#include "formats/core/error.hpp"
#include "formats/io/stream/decompress.hpp"
#include "formats/io/stream/input_bytes.hpp"

namespace sptile::formats {

class DecodedStream {
 public:
  /// Recognizes compressed data by its first bytes, ignoring the file name.
  static Result<DecodedStream> open(InputBytes input);

  /// Reads at least one byte, or returns 0 at the end. Errc::bad_input for corrupt or truncated data, after
  /// the valid bytes before the defect; their number does not depend on the sizes of the calls.
  Result<std::int64_t> read(std::span<char> out);

  /// Returns the total number of bytes, if it is known without decoding.
  [[nodiscard]] std::optional<std::int64_t> size() const {
    return codec_ == nullptr ? input_.size() : std::nullopt;
  }
  [[nodiscard]] InputBytes& input() { return input_; }
  [[nodiscard]] const InputBytes& input() const { return input_; }

 private:
  explicit DecodedStream(InputBytes input) : input_(std::move(input)) {}
  std::int64_t take_pending(std::span<char> out);
  Status decode_more();

  InputBytes input_;
  const Codec* codec_ = nullptr;
  std::unique_ptr<Decoder> decoder_;
  Buffer<char> stored_;            // the first bytes, or a block of compressed data
  std::span<const char> encoded_;  // input that the decoder has not consumed
  Buffer<char> decoded_;  // fixed size, because decoders that fail lose the output of the failing call
  std::span<const char> pending_;  // decoded text not yet read
  std::optional<Error> failure_;   // error of the decoder, reported after the text before it
  bool ended_ = false;             // input_ is at its end
};

}  // namespace sptile::formats
