#include "tools/partition/digest.hpp"

#include <sys/random.h>

#include <cstring>

#include "formats/core/random.hpp"
#include "formats/layout/bundle_layout.hpp"

namespace sptile::tools {
namespace {

std::uint64_t value_bits(const void* values, std::size_t width, std::size_t at) {
  std::uint64_t bits = 0;  // little-endian
  if (width > 0) std::memcpy(&bits, static_cast<const std::byte*>(values) + at * width, width);
  return bits;
}

std::uint64_t pair(std::uint64_t row, std::uint64_t column) { return row << 32 | column; }

}  // namespace

Digest& Digest::operator+=(const Digest& other) {
  content += other.content;
  forward += other.forward;
  mirrored += other.mirrored;
  entries += other.entries;
  return *this;
}

// If getrandom fails, the key stays zero and a crafted matrix can be reported as symmetric; ordinary ones are
// unaffected.
DigestMaker::DigestMaker() { static_cast<void>(::getrandom(&key_, sizeof key_, 0)); }

void DigestMaker::add(Digest& digest, std::int64_t row, std::span<const std::int32_t> columns,
                      const void* values, std::size_t value_width) const {
  const auto r = static_cast<std::uint64_t>(row);
  const std::uint64_t hash_of_columns = formats::bundle_hash(columns.data(), columns.size_bytes());
  const std::uint64_t hash_of_values = formats::bundle_hash(values, columns.size() * value_width);
  digest.content += mix_bits(hash_of_columns + mix_bits(hash_of_values + mix_bits(r)));
  digest.entries += std::ssize(columns);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto c = static_cast<std::uint32_t>(columns[i]);
    const std::uint64_t value = value_bits(values, value_width, i);
    digest.forward += mix_bits(mix_bits(key_ ^ pair(r, c)) + value);
    digest.mirrored += mix_bits(mix_bits(key_ ^ pair(c, r)) + value);
  }
}

std::uint64_t content_hash(const Digest& digest, std::int64_t rows, std::size_t value_width) {
  const std::uint64_t parts[] = {digest.content, static_cast<std::uint64_t>(digest.entries),
                                 static_cast<std::uint64_t>(rows), value_width};
  return formats::bundle_hash(parts, sizeof parts);
}

}  // namespace sptile::tools
