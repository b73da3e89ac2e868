#include "formats/io/text_stream.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sptile::formats {
namespace {
constexpr std::int64_t kStoredBytes = 256 << 10;
}

Result<TextStream> TextStream::open(InputBytes input) {
  TextStream text(std::move(input));
  text.stored_ = Buffer<char>(kStoredBytes);
  const Result<std::int64_t> head = text.input_.read(text.stored_.span().first(kLongestMagic));
  if (!head) return tl::unexpected(head.error());
  text.pending_ = text.stored_.span().first(static_cast<std::size_t>(*head));
  text.codec_ = find_codec({text.pending_.data(), text.pending_.size()});
  if (text.codec_ != nullptr) text.decoder_ = text.codec_->make();
  return text;
}

Result<std::int64_t> TextStream::read(std::span<char> out) {
  return decoder_ ? read_decoded(out) : read_plain(out);
}

Result<std::int64_t> TextStream::read_plain(std::span<char> out) {
  const std::size_t first = std::min(out.size(), pending_.size());
  std::copy_n(pending_.data(), first, out.data());
  pending_ = pending_.subspan(first);
  const Result<std::int64_t> rest = input_.read(out.subspan(first));
  if (!rest) return rest;
  return *rest + static_cast<std::int64_t>(first);
}

Result<std::int64_t> TextStream::read_decoded(std::span<char> out) {
  std::span<char> room = out;
  while (!room.empty()) {
    if (pending_.empty() && !ended_) {
      const Result<std::int64_t> count = input_.read(stored_.span());
      if (!count) return count;
      pending_ = stored_.span().first(static_cast<std::size_t>(*count));
      ended_ = *count < stored_.size();
    }
    const std::size_t in_before = pending_.size(), room_before = room.size();
    if (Status decoded = decoder_->decode(pending_, room, ended_); !decoded) {
      decoded.error().where = input_.name();
      return tl::unexpected(decoded.error());
    }
    if (!ended_ || pending_.size() != in_before || room.size() != room_before) continue;
    if (decoder_->complete() && pending_.empty()) break;
    return fail(Errc::bad_input, "the " + std::string(codec_->name) + " data is cut off; get the whole file",
                input_.name());
  }
  return static_cast<std::int64_t>(out.size() - room.size());
}

}  // namespace sptile::formats
