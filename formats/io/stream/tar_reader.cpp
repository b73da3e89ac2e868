#include "formats/io/stream/tar_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "formats/core/quote.hpp"

namespace sptile::formats {
namespace {

// Location of a header field.
struct Field {
  std::size_t start, length;
};
constexpr Field kName{0, 100}, kSize{124, 12}, kChecksum{148, 8}, kMagic{257, 6}, kPrefix{345, 155};
constexpr std::size_t kType = 156;

constexpr std::int64_t kMaxBytes = std::numeric_limits<std::int64_t>::max() - std::int64_t{kTarBlock};
constexpr std::int64_t kLongestExtension = 1 << 20;  // maximum bytes of extended names and records

std::string_view field(std::string_view block, Field f) { return block.substr(f.start, f.length); }

// Returns the bytes before the first zero.
std::string_view text(std::string_view bytes) { return bytes.substr(0, bytes.find('\0')); }

// Parses octal digits between blanks; nothing for invalid or too large numbers.
std::optional<std::int64_t> octal(std::string_view bytes) {
  std::string_view digits = text(bytes);
  digits.remove_prefix(std::min(digits.find_first_not_of(' '), digits.size()));
  digits = digits.substr(0, digits.find(' '));
  std::int64_t number = 0;
  if (digits.empty()) return number;  // empty fields of old archives
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 8);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) return std::nullopt;
  return number;
}

// Parses the size field: octal, or big-endian binary if the first bit is set.
std::optional<std::int64_t> size_of_content(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if ((first & 0x80) == 0) return octal(bytes);
  if ((first & 0x40) != 0) return std::nullopt;  // negative
  std::int64_t number = first & 0x3f;
  for (const char c : bytes.substr(1)) {
    if (number > kMaxBytes >> 8) return std::nullopt;
    number = number << 8 | static_cast<unsigned char>(c);
  }
  return number;
}

// Compares the checksum, the sum of all bytes with blanks in its own field. Some old writers summed signed
// bytes.
bool has_right_checksum(std::string_view block) {
  const auto stored = octal(field(block, kChecksum));
  std::int64_t sum = 0, signed_sum = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const bool blank = i - kChecksum.start < kChecksum.length;
    sum += blank ? ' ' : static_cast<unsigned char>(block[i]);
    signed_sum += blank ? ' ' : static_cast<signed char>(block[i]);
  }
  return stored == sum || stored == signed_sum;
}

bool is_zero(std::string_view block) {
  return std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; });
}

std::string name_in(std::string_view block) {
  std::string name(text(field(block, kName)));
  const bool posix = field(block, kMagic) == std::string_view("ustar\0", 6);
  const std::string_view prefix = posix ? text(field(block, kPrefix)) : std::string_view();
  return prefix.empty() ? name : std::string(prefix) + "/" + name;
}

bool is_file_type(char type, const std::string& name) {
  return type == '0' || type == '7' || type == 'S' || (type == '\0' && !name.ends_with('/'));
}

// Links, devices and folders have no content, even if their size is not 0.
bool has_content(char type) { return type < '1' || type > '6'; }

}  // namespace

bool is_tar(std::string_view head) {
  if (head.size() < kTarBlock) return false;
  const std::string_view block = head.substr(0, kTarBlock);
  return field(block, kMagic).starts_with("ustar") || (!is_zero(block) && has_right_checksum(block));
}

TarReader::TarReader(DecodedStream& archive, std::string_view head) : archive_(archive) {
  head_end_ = head.copy(head_.data(), head_.size());
}

tl::unexpected<Error> TarReader::bad(std::string message) const {
  if (!last_.empty()) message += " (after " + quoted(last_) + ")";
  return fail(Errc::bad_input, std::move(message), archive_.input().name());
}

// Reads until `out` is full or the stream ends.
Result<std::int64_t> TarReader::fill(std::span<char> out) {
  std::size_t filled = std::min(head_end_ - head_start_, out.size());
  std::copy_n(head_.begin() + head_start_, filled, out.begin());
  head_start_ += filled;
  while (filled < out.size()) {
    const auto count = archive_.read(out.subspan(filled));
    if (!count) return count;
    if (*count == 0) break;
    filled += static_cast<std::size_t>(*count);
  }
  return static_cast<std::int64_t>(filled);
}

Status TarReader::skip_content() {
  constexpr std::int64_t kPiece = 64 << 10;
  Buffer<char> piece(kPiece);
  for (std::int64_t left = left_ + padding_; left > 0;) {
    const auto count = fill(piece.span().first(static_cast<std::size_t>(std::min(left, kPiece))));
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) return bad("the tar archive is truncated; copy it again");
    left -= *count;
  }
  left_ = padding_ = 0;
  return {};
}

// Returns false at the end of the archive.
Result<bool> TarReader::read_header(Block& block) {
  if (Status s = skip_content(); !s) return tl::unexpected(std::move(s.error()));
  const auto count = fill(block);
  if (!count) return tl::unexpected(count.error());
  if (*count < std::ssize(block)) return bad("the tar archive is truncated; copy it again");
  const std::string_view bytes(block.data(), block.size());
  if (is_zero(bytes)) return false;
  if (!has_right_checksum(bytes))
    return bad("the checksum of a header of the tar archive is wrong: it is damaged; copy it again");
  const auto size = size_of_content(field(bytes, kSize));
  if (!size || *size > kMaxBytes) return bad("a header of the tar archive has an invalid size");
  left_ = has_content(block[kType]) ? *size : 0;
  padding_ = -left_ & (std::int64_t{kTarBlock} - 1);
  return true;
}

Result<std::string> TarReader::read_extension() {
  if (left_ > kLongestExtension)
    return bad("a name or a record of the tar archive has " + std::to_string(left_) + " bytes");
  std::string bytes(static_cast<std::size_t>(left_), '\0');
  const auto count = fill(bytes);
  if (!count) return tl::unexpected(count.error());
  if (*count < left_) return bad("the tar archive is truncated; copy it again");
  left_ = 0;
  return bytes;
}

// Parses records "LENGTH KEY=VALUE\n", where LENGTH counts the complete record.
Status TarReader::take_records(std::string_view records, Ahead& ahead) const {
  while (!records.empty()) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto start = static_cast<std::size_t>(end - records.data()) + 1;
    if (error != std::errc() || length <= start || length > records.size() || *end != ' ' ||
        records[length - 1] != '\n')
      return bad("a record of the tar archive is damaged; copy it again");
    const std::string_view record = records.substr(start, length - start - 1);
    records.remove_prefix(length);
    const std::string_view key = record.substr(0, record.find('='));
    const std::string_view value = record.substr(std::min(key.size() + 1, record.size()));
    if (key == "path") ahead.name = value;
    if (key.starts_with("GNU.sparse.")) ahead.is_sparse = true;
    if (key != "size") continue;
    std::int64_t size = -1;
    const auto [last, wrong] = std::from_chars(value.data(), value.data() + value.size(), size);
    if (wrong != std::errc() || last != value.data() + value.size() || size < 0 || size > kMaxBytes)
      return bad("a record of the tar archive has an invalid size");
    ahead.size = size;
  }
  return {};
}

// Headers of type x contain records for the next entry, those of type L its name; other types are ignored.
Status TarReader::take_extension(char type, Ahead& ahead) {
  if (type != 'x' && type != 'L') return {};
  const auto bytes = read_extension();
  if (!bytes) return tl::unexpected(bytes.error());
  if (type == 'x') return take_records(*bytes, ahead);
  ahead.name = text(*bytes);
  return {};
}

// Reads to the end, so that checksums of the compression are verified and hashes cover the entire file.
Status TarReader::drain() {
  Buffer<char> rest(64 << 10);
  for (;;) {
    const auto count = archive_.read(rest.span());
    if (!count) return tl::unexpected(count.error());
    if (*count == 0) return {};
  }
}

Result<std::optional<TarEntry>> TarReader::next() {
  constexpr std::string_view kExtensions = "xgLK";
  Ahead ahead;
  Block block{};
  for (;;) {
    const auto more = read_header(block);
    if (!more) return tl::unexpected(more.error());
    if (!*more) {
      if (Status s = drain(); !s) return tl::unexpected(std::move(s.error()));
      return std::nullopt;
    }
    const char type = block[kType];
    if (kExtensions.find(type) != kExtensions.npos) {
      if (Status s = take_extension(type, ahead); !s) return tl::unexpected(std::move(s.error()));
      continue;
    }
    if (ahead.size && has_content(type))
      left_ = *ahead.size, padding_ = -left_ & (std::int64_t{kTarBlock} - 1);
    TarEntry entry;
    entry.name = ahead.name.empty() ? name_in({block.data(), block.size()}) : std::move(ahead.name);
    entry.size = left_;
    entry.is_file = is_file_type(type, entry.name);
    entry.is_sparse = type == 'S' || ahead.is_sparse;
    last_ = entry.name;
    return entry;
  }
}

Result<std::int64_t> TarReader::read(std::span<char> out) {
  if (left_ == 0) return 0;
  const auto capacity =
      static_cast<std::int64_t>(std::min<std::uint64_t>(out.size(), static_cast<std::uint64_t>(left_)));
  const auto count = archive_.read(out.first(static_cast<std::size_t>(capacity)));
  if (!count) return count;
  if (*count == 0)
    return fail(Errc::bad_input, "the tar archive is truncated in " + quoted(last_) + "; copy the file again",
                archive_.input().name());
  left_ -= *count;
  return count;
}

}  // namespace sptile::formats
