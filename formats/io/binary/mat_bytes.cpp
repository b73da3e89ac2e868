#include "formats/io/binary/mat_bytes.hpp"

#include <algorithm>
#include <limits>
#include <new>

namespace sptile::formats {
namespace {

constexpr std::int64_t kPieceBytes = 64 << 10;
constexpr std::int64_t kMaxRatio = 1032;  // maximum compression ratio of deflate
constexpr std::int64_t kUnknown = std::int64_t{1} << 60;

}  // namespace

MatBytes::MatBytes(InputBytes& input) : input_(input) {
  left_ = input.size() ? std::max<std::int64_t>(0, *input.size() - input.position()) : kUnknown;
}

MatBytes::MatBytes(InputBytes& input, std::int64_t stored)
    : input_(input),
      left_(stored * kMaxRatio),
      stored_(stored),
      inflating_(std::make_unique<z_stream>()),
      piece_(kPieceBytes) {
  if (::inflateInit(inflating_.get()) != Z_OK) throw std::bad_alloc();
}

MatBytes::~MatBytes() {
  if (inflating_) ::inflateEnd(inflating_.get());
}

tl::unexpected<Error> MatBytes::damaged(const std::string& what) const {
  return fail(Errc::bad_input,
              what + " at byte " + std::to_string(input_.position()) + "; copy the file again",
              input_.name());
}

Result<std::int64_t> MatBytes::read_stored(std::span<char> out) {
  const auto count = input_.read(out);
  if (!count) return count;
  return *count == 0 && !out.empty() ? damaged("the file ends") : count;
}

Status MatBytes::read(std::span<char> out) {
  if (static_cast<std::int64_t>(out.size()) > left_)
    return damaged("an element is longer than its container");
  left_ -= static_cast<std::int64_t>(out.size());
  if (!inflating_) {
    const auto count = input_.read(out);
    if (!count) return tl::unexpected(count.error());
    return *count == static_cast<std::int64_t>(out.size()) ? Status() : damaged("the file ends");
  }
  z_stream& stream = *inflating_;
  while (!out.empty()) {
    if (stream.avail_in == 0 && stored_ > 0) {
      const auto count =
          read_stored(piece_.span().first(static_cast<std::size_t>(std::min(stored_, kPieceBytes))));
      if (!count) return tl::unexpected(count.error());
      stored_ -= *count;
      stream.next_in = reinterpret_cast<Bytef*>(piece_.data());
      stream.avail_in = static_cast<uInt>(*count);
    }
    const auto capacity =
        static_cast<uInt>(std::min<std::size_t>(out.size(), std::numeric_limits<uInt>::max()));
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = capacity;
    const int code = ::inflate(&stream, Z_NO_FLUSH);
    const uInt made = capacity - stream.avail_out;
    out = out.subspan(made);
    if (code == Z_OK || (code == Z_STREAM_END && out.empty())) continue;
    return damaged(code == Z_STREAM_END || (code == Z_BUF_ERROR && stored_ == 0)
                       ? "compressed data is shorter than its element"
                       : "compressed data is corrupt");
  }
  return {};
}

Status MatBytes::skip(std::int64_t bytes) {
  Buffer<char> passed(std::min(bytes, kPieceBytes));
  while (bytes > 0) {
    const std::int64_t count = std::min(bytes, kPieceBytes);
    if (Status s = read(passed.span().first(static_cast<std::size_t>(count))); !s) return s;
    bytes -= count;
  }
  return {};
}

Status MatBytes::finish() {
  while (stored_ > 0) {
    const auto count =
        read_stored(piece_.span().first(static_cast<std::size_t>(std::min(stored_, kPieceBytes))));
    if (!count) return tl::unexpected(count.error());
    stored_ -= *count;
  }
  return {};
}

}  // namespace sptile::formats
