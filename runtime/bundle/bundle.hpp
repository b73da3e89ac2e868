// Opens a bundle without HDF5: reads the user block, validates it, maps the file.
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
  bool copy = false;  ///< read the arrays into memory instead of mapping: for folders that others can write
  std::string matrix = {};  ///< which one of a bundle that has several, "halo"; empty: the first one
  bool keep_open = false;   ///< see Bundle::descriptor
};

/// An open bundle: one matrix of a file. Immutable and thread-safe; views borrow from it.
class Bundle {
 public:
  /// Validates header, table, lengths and the relations between arrays; the data is not touched (but /shape
  /// and the one value of a pattern), so the cost does not grow with the file. Errc::bad_input for anything
  /// that is not a whole, unchanged bundle, naming the field and the remedy; Errc::unsupported for a newer
  /// layout or an unknown must-know flag; Errc::io when it cannot be read.
  static Result<std::shared_ptr<const Bundle>> open(const std::string& path,
                                                    const BundleOpenOptions& options = {});
  /// The same of a file that is open for reading as `fd`, which it closes. `name` stands for the path in
  /// messages.
  static Result<std::shared_ptr<const Bundle>> from_descriptor(int fd, const std::string& name,
                                                               const BundleOpenOptions& options = {});
  /// The same for a bundle in memory that starts at a multiple of 64 bytes (else Errc::usage) and outlives
  /// the result. `name` stands for the path in messages.
  static Result<std::shared_ptr<const Bundle>> from_memory(std::span<const std::byte> memory,
                                                           const std::string& name);

  /// Opens another matrix of the same file without opening the file again: both come from one bundle, even
  /// where another file has taken its name.
  [[nodiscard]] Result<std::shared_ptr<const Bundle>> other(const std::string& matrix) const;

  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] std::int64_t nnz() const { return nnz_; }
  [[nodiscard]] bool is_pattern() const { return pattern_; }
  /// Whether the matrix equals its transpose, bit by bit; not known of bundles that nobody looked at.
  [[nodiscard]] std::optional<bool> symmetric() const { return symmetric_; }
  /// Type of the source values in /csr/values: f32, f64, or none for a pattern.
  [[nodiscard]] DType dtype() const;
  [[nodiscard]] std::uint64_t file_size() const { return file_->size(); }
  /// Returns the descriptor of the file, open for reading; -1 unless BundleOpenOptions::keep_open.
  [[nodiscard]] int descriptor() const { return file_->descriptor(); }

  /// The source matrix in original row order (contents unchecked, see formats::check_csr).
  [[nodiscard]] formats::CsrView csr() const;
  /// new_to_old; empty when the order is the original.
  [[nodiscard]] std::span<const std::int32_t> row_order(Side side = Side::matrix) const;
  /// Formats that the bundle holds, `csr` first. Lengths are checked, contents are not. Those of A^T are
  /// those of A where A is symmetric; none where the bundle holds no A^T.
  [[nodiscard]] const std::vector<formats::FormatView>& formats(Side side = Side::matrix) const {
    return formats_[side == Side::transpose && !shared()];
  }
  /// One of them; nullptr when the bundle does not hold it.
  [[nodiscard]] const formats::FormatView* format(std::string_view name, Side side = Side::matrix) const;
  /// Positions in /csr/values of the stored values of a format; not present unless written with
  /// --refreshable. Those of A^T are its own, even where nothing else is.
  [[nodiscard]] ArrayView value_source(std::string_view format, Side side = Side::matrix) const;
  /// Stored plans, oldest first: groups of /plans that have the arrays of one. What else is there is from
  /// newer versions. Contents are not checked.
  [[nodiscard]] const std::vector<StoredPlan>& plans() const { return plans_; }
  /// An array of the whole bundle, whatever matrix was opened: "/part/id". Nothing is known of it but what
  /// the table says; not present where there is none.
  [[nodiscard]] ArrayView array(std::string_view path) const;
  /// Every array of the table, by offset.
  [[nodiscard]] const std::vector<BundleArray>& arrays() const { return file_->arrays(); }

  /// Returns a hash of the paths and hashes of all arrays of the table except stored plans: the same for the
  /// same matrices and formats, whatever file they are in. The data are not read.
  [[nodiscard]] std::uint64_t content() const;

  /// Compares the XXH3-64 of one array's data with the table; touches every byte.
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
  std::string root_;  ///< in front of the paths of the matrix: "" or "/halo"
  std::int64_t rows_ = 0, cols_ = 0, nnz_ = 0;
  bool pattern_ = false;
  std::optional<bool> symmetric_;
  std::array<std::vector<formats::FormatView>, 2> formats_;  ///< of A; of A^T, where they are not the same
  std::vector<StoredPlan> plans_;
};

}  // namespace sptile::runtime
