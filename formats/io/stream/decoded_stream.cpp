#include "formats/io/stream/decoded_stream.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace sptile::formats {
namespace {
constexpr std::int64_t kStoredBytes = 256 << 10, kDecodedBytes = 256 << 10;
}

Result<DecodedStream> DecodedStream::open(InputBytes input) {
  DecodedStream text(std::move(input));
  text.stored_ = Buffer<char>(kStoredBytes);
  const Result<std::int64_t> count = text.input_.read(text.stored_.span().first(kLongestMagic));
  if (!count) return tl::unexpected(count.error());
  const std::span<const char> head = text.stored_.span().first(static_cast<std::size_t>(*count));
  text.codec_ = find_codec({head.data(), head.size()});
  if (text.codec_ == nullptr) {
    if (Status s = check_codec({head.data(), head.size()}); !s)
      return fail(s.error().code, s.error().message, text.input_.name());
    text.pending_ = head;
  } else {
    text.encoded_ = head;
    text.decoder_ = text.codec_->make();
    text.decoded_ = Buffer<char>(kDecodedBytes);
  }
  return text;
}

Result<std::int64_t> DecodedStream::read(std::span<char> out) {
  if (!pending_.empty()) return take_pending(out);
  if (!decoder_) return input_.read(out);
  if (Status more = decode_more(); !more) return tl::unexpected(more.error());
  return take_pending(out);
}

std::int64_t DecodedStream::take_pending(std::span<char> out) {
  const std::size_t count = std::min(out.size(), pending_.size());
  std::copy_n(pending_.data(), count, out.data());
  pending_ = pending_.subspan(count);
  return static_cast<std::int64_t>(count);
}

// Decodes until text is pending or the stream ends.
Status DecodedStream::decode_more() {
  for (;;) {
    if (failure_) return tl::unexpected(*failure_);
    if (encoded_.empty() && !ended_) {
      const Result<std::int64_t> count = input_.read(stored_.span());
      if (!count) return tl::unexpected(count.error());
      encoded_ = stored_.span().first(static_cast<std::size_t>(*count));
      ended_ = *count < stored_.size();
    }
    const std::size_t before = encoded_.size();
    std::span<char> free_space = decoded_.span();
    if (const Status decoded = decoder_->decode(encoded_, free_space, ended_); !decoded)
      failure_ = Error{decoded.error().code, decoded.error().message, input_.name()};
    pending_ = decoded_.span().first(decoded_.span().size() - free_space.size());
    if (!pending_.empty()) return {};
    if (failure_ || !ended_ || encoded_.size() != before) continue;
    if (decoder_->complete() && encoded_.empty()) return {};
    return fail(Errc::bad_input,
                "the " + std::string(codec_->name) + " data is truncated; copy the file again",
                input_.name());
  }
}

}  // namespace sptile::formats
