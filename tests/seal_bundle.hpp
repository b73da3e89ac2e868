// Corrects the checksums of bundles with any contents.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "formats/layout/bundle_layout.hpp"

namespace sptile {

using Bytes = std::span<const std::byte>;

/// Returns the table of a bundle in memory.
inline std::vector<formats::BundleEntry> table_of(Bytes bundle) {
  formats::BundleHeader header;
  std::memcpy(&header, bundle.data(), sizeof header);
  std::vector<formats::BundleEntry> entries(header.entries);
  const Bytes table = bundle.subspan(sizeof header, entries.size() * sizeof(formats::BundleEntry));
  std::ranges::copy(table, reinterpret_cast<std::byte*>(entries.data()));
  return entries;
}

/// Replaces the header and the table.
inline void put_table(std::span<std::byte> bundle, const formats::BundleHeader& header,
                      std::span<const formats::BundleEntry> entries) {
  std::memcpy(bundle.data(), &header, sizeof header);
  std::ranges::copy(std::as_bytes(entries), bundle.begin() + sizeof header);
}

/// Hashes the arrays within the bundle, then the table.
inline void seal(std::span<std::byte> bundle) {
  std::vector<formats::BundleEntry> entries = table_of(bundle);
  for (formats::BundleEntry& e : entries)
    if (e.offset <= bundle.size() && e.bytes <= bundle.size() - e.offset)
      e.hash = formats::bundle_hash(bundle.data() + e.offset, e.bytes);
  formats::BundleHeader header;
  std::memcpy(&header, bundle.data(), sizeof header);
  header.header_hash = formats::bundle_header_hash(header, entries);
  put_table(bundle, header, entries);
}

}  // namespace sptile
