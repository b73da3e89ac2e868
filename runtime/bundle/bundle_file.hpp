// The file of a bundle: its table and its arrays in memory, for all matrices.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/core/array_view.hpp"
#include "formats/core/error.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "runtime/bundle/file_bytes.hpp"

namespace sptile::runtime {

/// One array of the table.
struct BundleArray {
  std::string path;
  ArrayView array;
  std::uint64_t hash = 0;
  std::uint32_t rank = 1;
};

/// A bundle file, opened once. All matrices of the bundle borrow from it. Immutable and thread-safe.
class BundleFile {
 public:
  /// Validates header and table (see read_bundle_table) and maps the file or, with `copy`, reads its arrays.
  /// Errors do not name the file.
  static Result<std::shared_ptr<const BundleFile>> open(FileBytes bytes, bool copy);

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }
  [[nodiscard]] int descriptor() const { return bytes_.descriptor(); }
  [[nodiscard]] const formats::BundleHeader& header() const { return header_; }
  /// Returns all arrays, by offset.
  [[nodiscard]] const std::vector<BundleArray>& arrays() const { return arrays_; }
  /// Returns the array of a path; nullptr if there is none.
  [[nodiscard]] const BundleArray* find(std::string_view path) const;
  /// Returns the indices of the arrays in a group, by path.
  [[nodiscard]] std::span<const std::uint32_t> group(const std::string& path) const;
  /// Returns the indices of all arrays, by path.
  [[nodiscard]] std::span<const std::uint32_t> by_path() const { return by_path_; }

 private:
  explicit BundleFile(FileBytes bytes) : bytes_(std::move(bytes)) {}
  Status read(bool copy);

  FileBytes bytes_;
  formats::BundleHeader header_{};
  std::vector<BundleArray> arrays_;
  std::vector<std::uint32_t> by_path_;
};

}  // namespace sptile::runtime
