#include "formats/layout/bundle_layout.hpp"

#define XXH_INLINE_ALL  // header-only use: no library to link
#include <xxhash.h>

#include "formats/layout/csr.hpp"

namespace sptile::formats {
namespace {
constexpr const char* kCsrPaths[] = {kCsrPointersPath, kCsrIndicesPath, kCsrValuesPath};
}

struct BundleHasher::State {
  XXH3_state_t xxh3;
};

BundleHasher::BundleHasher() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->xxh3); }
BundleHasher::~BundleHasher() = default;

void BundleHasher::add(const void* data, std::uint64_t bytes) {
  if (bytes > 0) XXH3_64bits_update(&state_->xxh3, data, bytes);
}

std::uint64_t BundleHasher::hash() const { return XXH3_64bits_digest(&state_->xxh3); }

std::uint64_t bundle_hash(const void* data, std::uint64_t bytes) {
  return bytes == 0 ? XXH3_64bits("", 0) : XXH3_64bits(data, bytes);
}

std::uint64_t bundle_header_hash(BundleHeader header, std::span<const BundleEntry> entries) {
  header.header_hash = 0;
  BundleHasher hasher;
  hasher.add(&header, sizeof header);
  hasher.add(entries.data(), entries.size_bytes());
  return hasher.hash();
}

std::string matrix_group(std::string_view matrix) {
  return matrix.empty() ? std::string() : "/" + std::string(matrix);
}

std::string bundle_group(const FormatLayout& layout, Side side) {
  if (side == Side::matrix) return std::string(layout.group);
  return std::string(kTransposeGroup) + "/formats/" + std::string(layout.name);
}

std::string bundle_path(const FormatLayout& layout, std::size_t array, Side side) {
  if (&layout == &kCsrLayout && side == Side::matrix) return kCsrPaths[array];
  return bundle_group(layout, side) + "/" + std::string(layout.arrays[array].name);
}

std::string value_source_path(const FormatLayout& layout, Side side) {
  return bundle_group(layout, side) + "/" + kValueSourceName;
}

std::string row_order_path(Side side) {
  return (side == Side::transpose ? kTransposeGroup : "") + std::string(kRowOrderPath);
}

}  // namespace sptile::formats
