// Opens bundles without HDF5: reads and validates the user block, then maps the file.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "formats/layout/bundle_layout.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/bundle/bundle_file.hpp"
#include "runtime/core/stored_plan.hpp"

namespace sptile::runtime {

using formats::Side;

struct BundleOpenOptions {
  /// read the arrays into memory instead of mapping them, for directories that others can write to
  bool copy = false;
  /// name of a matrix in a bundle with several, for example "halo"; empty: the first one
  std::string matrix = {};
  bool keep_open = false;  ///< see Bundle::descriptor
};

/// An open bundle: one matrix of a file. Immutable and thread-safe. Views borrow from it.
class Bundle {
 public:
  /// Validates header, table, lengths and the relations between arrays. The data is not read (except /shape
  /// and the value of a pattern), so the cost does not depend on the file size. Errc::bad_input, naming the
  /// field and the remedy, if the file is not a complete, unmodified bundle; Errc::unsupported for a newer
  /// layout or an unknown required flag; Errc::io if it cannot be read.
  static Result<std::shared_ptr<const Bundle>> open(const std::string& path,
                                                    const BundleOpenOptions& options = {});
  /// Opens a bundle from the descriptor `fd`, open for reading, and closes it. Messages use `name` as the
  /// path.
  static Result<std::shared_ptr<const Bundle>> from_descriptor(int fd, const std::string& name,
                                                               const BundleOpenOptions& options = {});
  /// Opens a bundle in memory that is aligned to 64 bytes (otherwise Errc::usage) and outlives the result.
  /// Messages use `name` as the path.
  static Result<std::shared_ptr<const Bundle>> from_memory(std::span<const std::byte> memory,
                                                           const std::string& name);

  /// Opens another matrix of the bundle without opening the file again, so both are from one bundle even if
  /// the file was replaced.
  [[nodiscard]] Result<std::shared_ptr<const Bundle>> other(const std::string& matrix) const;

  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  [[nodiscard]] bool is_pattern() const { return pattern_; }
  /// Returns whether the matrix equals its transpose, bit by bit; nullopt if the bundle does not state it.
  [[nodiscard]] std::optional<bool> symmetric() const { return symmetric_; }
  /// Returns the type of the source values in /csr/values: f32, f64, or none for a pattern.
  [[nodiscard]] DType dtype() const;
  [[nodiscard]] std::uint64_t file_size() const { return file_->size(); }
  /// Returns the descriptor of the file, open for reading; -1 unless BundleOpenOptions::keep_open.
  [[nodiscard]] int descriptor() const { return file_->descriptor(); }

  /// Returns the source matrix in original row order (contents unchecked, see formats::check_csr).
  [[nodiscard]] formats::CsrView csr() const;
  /// Returns new_to_old; empty for the original order.
  [[nodiscard]] std::span<const std::int32_t> row_order(Side side = Side::matrix) const;
  /// Returns the formats of the bundle, `csr` first. Lengths are checked, contents are not. Formats of A^T
  /// are those of A if A is symmetric; none if the bundle does not contain A^T.
  [[nodiscard]] const std::vector<formats::FormatView>& formats(Side side = Side::matrix) const {
    return formats_[side == Side::transpose && !shared()];
  }
  /// Returns a format by name; nullptr if the bundle does not contain it.
  [[nodiscard]] const formats::FormatView* format(std::string_view name, Side side = Side::matrix) const;
  /// Returns the positions in /csr/values of the stored values of a format; absent unless written with
  /// --refreshable. A^T always has its own array, even if A is symmetric.
  [[nodiscard]] ArrayView value_source(std::string_view format, Side side = Side::matrix) const;
  /// Returns the stored plans, oldest first: groups of /plans that have all arrays of a plan. Other groups
  /// are from newer versions. Contents are not checked.
  [[nodiscard]] const std::vector<StoredPlan>& plans() const { return plans_; }
  /// Returns an array of the file by absolute path, such as "/part/id", independent of the open matrix;
  /// absent if there is none. Only the table entry is checked.
  [[nodiscard]] ArrayView array(std::string_view path) const;
  /// Returns all arrays of the table, by offset.
  [[nodiscard]] const std::vector<BundleArray>& arrays() const { return file_->arrays(); }

  /// Returns a hash of the paths and hashes of all arrays of the table except stored plans. It depends on the
  /// matrices and formats, not on the file. The data is not read.
  [[nodiscard]] std::uint64_t content() const;

  /// Compares the XXH3-64 of one array's data with the table. Reads the entire array.
  [[nodiscard]] Status verify_checksum(const BundleArray& array) const;

 private:
  Bundle(std::shared_ptr<const BundleFile> file, std::string path, std::string root)
      : file_(std::move(file)), path_(std::move(path)), root_(std::move(root)) {}
  static Result<std::shared_ptr<const Bundle>> open(Result<FileBytes> bytes, const std::string& path,
                                                    const BundleOpenOptions& options);
  static Result<std::shared_ptr<const Bundle>> validate(std::shared_ptr<const BundleFile> file,
                                                        const std::string& path, const std::string& matrix);
  Status read_shape();
  Status read_symmetry();
  Status relate();
  Status relate_transpose();
  [[nodiscard]] Status check_row_order(Side side) const;
  [[nodiscard]] Status check_shared() const;
  Status add_formats(Side side);
  Status add_format(const formats::FormatLayout& layout, Side side);
  [[nodiscard]] Status check_value_source(const std::string& path) const;
  [[nodiscard]] bool shared() const { return symmetric_.value_or(false); }
  void add_plans();
  [[nodiscard]] ArrayView find(std::string_view path) const;
  [[nodiscard]] std::span<const std::uint32_t> group(std::string_view path) const;

  std::shared_ptr<const BundleFile> file_;
  std::string path_;
  std::string root_;  ///< prefix of the matrix's paths: "" or "/halo"
  std::int64_t rows_ = 0, cols_ = 0, nnz_ = 0;
  bool pattern_ = false;
  std::optional<bool> symmetric_;
  std::array<std::vector<formats::FormatView>, 2> formats_;  ///< formats of A, and of A^T if it differs
  std::vector<StoredPlan> plans_;
};

}  // namespace sptile::runtime
