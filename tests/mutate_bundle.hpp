// Small lies told in a bundle: types, lengths, flags and data that do not fit each other.
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

/// A bundle taken apart. Sealing it again is for the caller.
struct BundleDraft {
  formats::BundleHeader header;
  std::vector<formats::BundleEntry> entries;
  /// The stored bytes of an array, as far as there are any.
  std::function<std::span<std::byte>(const formats::BundleEntry&)> data;
};

/// Changes one thing, and in most cases what must follow from it for a table to be accepted (bytes, places);
/// says what it did.
std::string mutate(BundleDraft& draft, std::mt19937& random);

/// Changes a whole bundle in memory in one place, now and then in two, and makes its checksums right.
std::string forge(std::span<std::byte> bundle, std::mt19937& random);

}  // namespace sptile
