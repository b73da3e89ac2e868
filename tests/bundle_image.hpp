// Modifiable bundles in memory.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formats/layout/bundle_layout.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile {

/// The bytes of a bundle, which can be modified and opened again.
class Image {
 public:
  explicit Image(const std::vector<std::byte>& bytes) : size_(bytes.size()) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (size_ + 63) / 64 * 64)));
    std::copy(bytes.begin(), bytes.end(), memory_.get());
  }

  [[nodiscard]] formats::BundleHeader& header() {
    return *reinterpret_cast<formats::BundleHeader*>(memory_.get());
  }
  [[nodiscard]] std::span<formats::BundleEntry> entries() {
    return {reinterpret_cast<formats::BundleEntry*>(memory_.get() + sizeof(formats::BundleHeader)),
            header().entries};
  }
  [[nodiscard]] formats::BundleEntry& entry(std::string_view path) {
    for (formats::BundleEntry& e : entries())
      if (path == e.path) return e;
    throw std::out_of_range(std::string(path));
  }
  void seal() { header().header_hash = formats::bundle_header_hash(header(), entries()); }
  [[nodiscard]] std::span<std::byte> bytes() { return {memory_.get(), size_}; }
  [[nodiscard]] auto open() { return runtime::Bundle::from_memory(bytes(), "image"); }

 private:
  std::size_t size_;
  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  std::unique_ptr<std::byte[], Free> memory_;
};

/// Checks that the result is an error with this code whose message contains `part`.
template <class T>
void check_refused(const Result<T>& result, Errc code, const std::string& part) {
  REQUIRE(!result);
  CAPTURE(result.error().text());
  CHECK(result.error().code == code);
  CHECK(result.error().message.find(part) != std::string::npos);
  CHECK(!result.error().where.empty());
}

}  // namespace sptile
