// The bytes of an input that may be compressed, as they are when it is not.
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
  /// Recognises compressed data by its first bytes, whatever the name.
  static Result<DecodedStream> open(InputBytes input);

  /// Gives at least one byte, 0 at their end. Errc::bad_input for corrupt or truncated compressed data,
  /// after the bytes in front of the trouble; how much of it depends on the data alone, not on the calls.
  Result<std::int64_t> read(std::span<char> out);

  /// Bytes in all; nothing where only reading it all would tell.
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
  Buffer<char> stored_;            // the first bytes, or a piece of the compressed data
  std::span<const char> encoded_;  // what the decoder has not yet taken of it
  Buffer<char> decoded_;           // of a fixed size: decoders that fail lose the output of the failing call
  std::span<const char> pending_;  // text that is ready to be given
  std::optional<Error> failure_;   // of the decoder, to be reported after the text in front of it
  bool ended_ = false;             // nothing is left to read from input_
};

}  // namespace sptile::formats
