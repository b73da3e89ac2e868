#include "formats/io/stream/text_stream.hpp"

#include <algorithm>
#include <utility>

namespace sptile::formats {

Result<TextStream> TextStream::open(InputBytes input) {
  auto bytes = DecodedStream::open(std::move(input));
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  TextStream text(std::move(*bytes));
  text.read_head();
  const std::string_view head(text.head_.data(), text.head_end_);
  if (!is_tar(head)) return text;
  auto tar = TarMatrix::open(*text.bytes_, head);
  if (!tar) return tl::unexpected(std::move(tar.error()));
  text.tar_.emplace(std::move(*tar));
  text.head_end_ = 0;
  return text;
}

// Ignores errors: they recur when the bytes before them have been read.
void TextStream::read_head() {
  while (head_end_ < head_.size()) {
    const auto count = bytes_->read(std::span(head_).subspan(head_end_));
    if (!count || *count == 0) return;
    head_end_ += static_cast<std::size_t>(*count);
  }
}

Result<std::int64_t> TextStream::read(std::span<char> out) {
  if (tar_) return tar_->read(out);
  if (head_start_ == head_end_) return bytes_->read(out);
  const std::size_t count = std::min(out.size(), head_end_ - head_start_);
  std::copy_n(head_.data() + head_start_, count, out.data());
  head_start_ += count;
  return static_cast<std::int64_t>(count);
}

}  // namespace sptile::formats
