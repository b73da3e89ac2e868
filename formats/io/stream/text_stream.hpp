// Text out of an input that may be compressed, or a matrix in a tar archive.
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
  /// Recognises compressed data and archives by their first bytes, whatever the name. Errors of the latter
  /// as TarMatrix::open.
  static Result<TextStream> open(InputBytes input);

  /// Gives at least one byte of text, 0 at its end. Errc::bad_input for corrupt or truncated compressed data,
  /// after text in front of the trouble; how much of it depends on the data alone, not on the calls.
  Result<std::int64_t> read(std::span<char> out);

  /// Bytes of text in all; nothing where only reading it all would tell.
  [[nodiscard]] std::optional<std::int64_t> size() const { return tar_ ? std::nullopt : bytes_->size(); }
  /// For messages: the input, and in an archive the file in it.
  [[nodiscard]] std::string name() const {
    return bytes_->input().name() + (tar_ ? ":" + tar_->member() : "");
  }
  [[nodiscard]] InputBytes& input() { return bytes_->input(); }
  [[nodiscard]] const InputBytes& input() const { return bytes_->input(); }

 private:
  explicit TextStream(DecodedStream bytes) : bytes_(std::make_unique<DecodedStream>(std::move(bytes))) {}
  void read_head();

  std::unique_ptr<DecodedStream> bytes_;  // where it is, tar_ knows
  std::array<char, kTarBlock> head_{};
  std::size_t head_start_ = 0, head_end_ = 0;  // of head_, what is still to be given
  std::optional<TarMatrix> tar_;
};

}  // namespace sptile::formats
