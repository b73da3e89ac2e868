// Text of an input that may be compressed, or of a matrix in a tar archive.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/core/error.hpp"
#include "formats/io/stream/decoded_stream.hpp"
#include "formats/io/stream/tar_matrix.hpp"

namespace sptile::formats {

class TextStream {
 public:
  /// Recognizes compressed data and archives by their first bytes, ignoring the file name. Errors for
  /// archives as in TarMatrix::open.
  static Result<TextStream> open(InputBytes input);

  /// Reads at least one byte of text, or returns 0 at the end. Errc::bad_input for corrupt or truncated
  /// compressed data, after the valid text before the defect; its length does not depend on the sizes of the
  /// calls.
  Result<std::int64_t> read(std::span<char> out);

  /// Returns the total bytes of text, if known without decoding.
  [[nodiscard]] std::optional<std::int64_t> size() const { return tar_ ? std::nullopt : bytes_->size(); }
  /// Returns the name for messages: the input and, for an archive, the file in it.
  [[nodiscard]] std::string name() const {
    return bytes_->input().name() + (tar_ ? ":" + tar_->member() : "");
  }
  [[nodiscard]] InputBytes& input() { return bytes_->input(); }
  [[nodiscard]] const InputBytes& input() const { return bytes_->input(); }

 private:
  explicit TextStream(DecodedStream bytes) : bytes_(std::make_unique<DecodedStream>(std::move(bytes))) {}
  void read_head();

  std::unique_ptr<DecodedStream> bytes_;  // by pointer, because tar_ refers to it
  std::array<char, kTarBlock> head_{};
  std::size_t head_start_ = 0, head_end_ = 0;  // unread part of head_
  std::optional<TarMatrix> tar_;
};

}  // namespace sptile::formats
