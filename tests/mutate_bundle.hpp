// Mutations of bundles: inconsistent types, lengths, flags and data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "formats/layout/bundle_layout.hpp"

namespace sptile {

/// The parts of a bundle. The caller corrects its checksums.
struct BundleDraft {
  formats::BundleHeader header;
  std::vector<formats::BundleEntry> entries;
  /// Returns the stored bytes of an array, truncated at the end of the file.
  std::function<std::span<std::byte>(const formats::BundleEntry&)> data;
};

/// Changes one property and usually the dependent ones (bytes, positions), so that the table remains
/// acceptable. Returns a description.
std::string mutate(BundleDraft& draft, std::mt19937& random);

/// Changes a bundle in memory in one or two places and corrects its checksums. Returns a description.
std::string forge(std::span<std::byte> bundle, std::mt19937& random);

}  // namespace sptile
