// Reader of the user block of a bundle: the header and the table of arrays.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/core/error.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/bundle/file_bytes.hpp"

namespace sptile::runtime {

struct BundleTable {
  formats::BundleHeader header{};
  std::vector<formats::BundleEntry> entries;  ///< by ascending offset, empty arrays first
};

/// Reads and validates the table: magic, version, sizes, hashes of header and superblock, and for each entry
/// the path (absolute, printable, unique), dtype, rank, dims whose product matches `bytes`, and a
/// page-aligned position within the file and after the superblock, without overlaps. Reads at most 64 + 128 *
/// 4096 bytes. Errors name the field, not the file.
Result<BundleTable> read_bundle_table(const FileBytes& file);

/// Returns the path of a validated entry.
std::string_view path_of(const formats::BundleEntry& entry);

/// Returns the number of elements of a validated entry.
std::int64_t elements_of(const formats::BundleEntry& entry);

}  // namespace sptile::runtime
