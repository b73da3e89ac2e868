// Reads and validates the user block of a bundle: the header and the table of arrays.
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
  std::vector<formats::BundleEntry> entries;  ///< ascending offsets, empty arrays first
};

/// Reads the table and proves: magic, version, sizes, header and superblock hashes; then of every entry: path
/// (absolute, printable, unique), known dtype and rank, dims that multiply to `bytes`, a page-aligned place
/// inside the file behind the superblock, no overlap. Reads at most 64 + 128 * 4096 bytes of a file of any
/// size. Errors name the field, not the file.
Result<BundleTable> read_bundle_table(const FileBytes& file);

/// The path of an entry that read_bundle_table accepted.
std::string_view path_of(const formats::BundleEntry& entry);

/// Number of elements of an entry that read_bundle_table accepted.
std::int64_t elements_of(const formats::BundleEntry& entry);

}  // namespace sptile::runtime
