// Text out of an input that may be compressed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "formats/buffer.hpp"
#include "formats/error.hpp"
#include "formats/io/decompress.hpp"
#include "formats/io/input_bytes.hpp"

namespace sptile::formats {

class TextStream {
 public:
  /// Recognises compressed data by its first bytes, whatever the name.
  static Result<TextStream> open(InputBytes input);

  /// Fills `out`; gives fewer bytes only where the text ends. Errc::bad_input for corrupt or truncated
  /// compressed data.
  Result<std::int64_t> read(std::span<char> out);

  /// Bytes of text in all; nothing where only reading it all would tell.
  [[nodiscard]] std::optional<std::int64_t> size() const {
    return codec_ == nullptr ? input_.size() : std::nullopt;
  }
  [[nodiscard]] InputBytes& input() { return input_; }
  [[nodiscard]] const InputBytes& input() const { return input_; }

 private:
  explicit TextStream(InputBytes input) : input_(std::move(input)) {}
  Result<std::int64_t> read_plain(std::span<char> out);
  Result<std::int64_t> read_decoded(std::span<char> out);

  InputBytes input_;
  const Codec* codec_ = nullptr;
  std::unique_ptr<Decoder> decoder_;
  Buffer<char> stored_;  // what was read but not yet handed on: the sniffed head, or compressed data
  std::span<const char> pending_;  // the rest of it
  bool ended_ = false;             // nothing is left to read from input_
};

}  // namespace sptile::formats
