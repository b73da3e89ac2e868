// Small inputs for the bundle fuzzer. A bundle of a tiny matrix is mostly padding and hashes, on which
// mutations are wasted. A folded bundle consists of header, table and the first bytes of each page. Unfolding
// corrects the checksums, so that errors reach the other checks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "tests/seal_bundle.hpp"

namespace sptile {

inline constexpr std::size_t kPage = formats::kBundleAlignment;
inline constexpr std::size_t kPageHead = 128;  ///< bytes of each page that a folded bundle keeps
inline constexpr std::size_t kMaxPages = 512;

inline std::uint64_t block_for(std::size_t entries) {
  const std::size_t table = sizeof(formats::BundleHeader) + entries * sizeof(formats::BundleEntry);
  return std::bit_ceil(std::max(kPage, table));
}

/// Keeps the header, the table and the start of each array, which must not exceed a page head.
inline std::vector<std::byte> fold(Bytes bundle) {
  formats::BundleHeader header;
  std::memcpy(&header, bundle.data(), sizeof header);
  std::vector<formats::BundleEntry> entries(header.entries);
  std::memcpy(entries.data(), bundle.data() + sizeof header, entries.size() * sizeof entries[0]);
  header.user_block = block_for(entries.size());
  std::vector<std::byte> heads;
  for (formats::BundleEntry& e : entries) {
    if (e.bytes == 0) continue;
    const Bytes head = bundle.subspan(e.offset, std::min<std::size_t>(e.bytes, kPageHead));
    e.offset = header.user_block + kPage * (1 + heads.size() / kPageHead);  // page 0 has the superblock
    heads.insert(heads.end(), head.begin(), head.end());
    heads.resize((heads.size() + kPageHead - 1) / kPageHead * kPageHead);
  }
  std::vector<std::byte> folded(sizeof header + entries.size() * sizeof entries[0]);
  std::memcpy(folded.data(), &header, sizeof header);
  std::memcpy(folded.data() + sizeof header, entries.data(), entries.size() * sizeof entries[0]);
  folded.insert(folded.end(), heads.begin(), heads.end());
  return folded;
}

/// Returns a file image with correct sizes and hashes for input that is long enough for a header; otherwise
/// empty.
inline formats::Buffer<std::byte> unfold(Bytes folded) {
  formats::BundleHeader header;
  if (folded.size() < sizeof header) return {};
  std::memcpy(&header, folded.data(), sizeof header);
  const Bytes rest = folded.subspan(sizeof header);
  header.entries = static_cast<std::uint32_t>(std::min<std::size_t>(
      {header.entries, rest.size() / sizeof(formats::BundleEntry), formats::kBundleEntriesMax}));
  const std::size_t table = header.entries * sizeof(formats::BundleEntry);
  const Bytes heads = rest.subspan(table);
  const std::size_t pages = 1 + std::min(kMaxPages, (heads.size() + kPageHead - 1) / kPageHead);
  const std::uint64_t block = block_for(header.entries);

  formats::Buffer<std::byte> image(static_cast<std::int64_t>(block + pages * kPage));
  std::fill(image.begin(), image.end(), std::byte{0});
  for (std::size_t p = 1; p < pages; ++p) {
    const Bytes head =
        heads.subspan((p - 1) * kPageHead).first(std::min(kPageHead, heads.size() - (p - 1) * kPageHead));
    std::copy(head.begin(), head.end(), image.data() + block + p * kPage);
  }
  std::memcpy(image.data() + block, "\x89HDF\r\n\x1a\n", 8);
  std::copy_n(rest.data(), table, image.data() + sizeof header);
  header.file_size = static_cast<std::uint64_t>(image.size());
  header.superblock_hash = formats::bundle_hash(image.data() + block, formats::kSuperblockBytes);
  std::memcpy(image.data(), &header, sizeof header);
  seal(image.span());
  return image;
}

}  // namespace sptile
