// Writer of HDF5 bundles.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "formats/convert/converters.hpp"
#include "formats/core/csr_view.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/io/files/atomic_file.hpp"
#include "formats/layout/bundle_layout.hpp"

namespace sptile::formats {

struct BundleWriteOptions {
  bool force = false;            ///< replace an existing file
  OutputGroup* group = nullptr;  ///< see Placing
  int fd = -1;  ///< open empty file to write instead (see AtomicFile::borrow); the path is for messages
  /// Reserves space for arrays without contents: the file has the size of the bundle, but is not a valid
  /// bundle.
  bool layout_only = false;
  std::uint64_t user_block = 64 << 10;  ///< power of two, 4096 to 1 MiB
  Parameters attributes = {};           ///< attributes of "/": source_name, source_sha256, options, seed,
                                        ///< ordering, ...
  Progress* progress = nullptr;
};

/// Writes one bundle. Order of calls: create, add_csr, add_symmetry (if known), at most one add_row_order,
/// add_format for each format; add_row_order and add_format again for A^T if the bundle stores it; all of
/// these again for each further matrix (begin_matrix); commit. Or: extend, changes of plans, commit. Each
/// call writes its arrays immediately, so that only one format needs to be in memory. Without commit the
/// temporary is removed. Errors: Errc::io (system), Errc::usage (exists, bad user_block).
class BundleWriter {
 public:
  static Result<BundleWriter> create(const std::string& path, const BundleWriteOptions& options);
  /// Works like create, with a file that the caller has begun; `path` names it in messages.
  static Result<BundleWriter> create(AtomicFile file, const std::string& path,
                                     const BundleWriteOptions& options);
  /// Extends the bundle at `path`, which is open as `source` and is read from its start. `commit` replaces it
  /// by a copy with added or removed plans; everything else keeps its bytes and offsets. Errc::bad_input if
  /// the header is not that of a bundle, Errc::io if the path now names another file.
  static Result<BundleWriter> extend(int source, const std::string& path, Progress* progress = nullptr);
  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;
  ~BundleWriter();

  /// Directs the following calls to another matrix, in the group "/NAME". It must have values of the same
  /// type as the first one, or none like it.
  Status begin_matrix(const std::string& name);
  /// Adds the source matrix in its original row order, with f32 or f64 values (widen f16 and bf16 first) or
  /// none.
  Status add_csr(const CsrView& a);
  /// Records whether the matrix equals its transpose bit for bit.
  Status add_symmetry(bool symmetric);
  /// Adds a row order: new_to_old, one id per row (for A^T: per column).
  Status add_row_order(std::span<const std::int32_t> new_to_old, Side side = Side::matrix);
  /// Adds a format of the reordered rows. `value_source` (i64, see formats::value_source) may be absent.
  /// Format `csr` is rejected except for A^T of an unsymmetric matrix, which requires it.
  Status add_format(const FormatView& view, const Parameters& parameters, ArrayView value_source = {},
                    Side side = Side::matrix);
  /// Adds the value sources of A^T of a symmetric matrix, the only array that differs from A: refreshed
  /// values need not be symmetric, and entry (i, j) of A^T then comes from (j, i).
  Status add_transposed_source(const FormatLayout& layout, ArrayView value_source);
  /// Adds the automatic choices and their reasons as UTF-8 lines: an array for readers of the table, and an
  /// attribute for HDF5 programs.
  Status add_choices(const std::string& lines);
  /// Adds arrays outside the matrices, in a separate group: "/part" with "id".
  Status add_arrays(const std::string& group, std::span<const std::pair<std::string_view, ArrayView>> arrays);
  /// Appends a plan (docs/reference/formats/bundle.md). Errc::usage if the table is full.
  Status add_plan(std::string_view key, std::span<const std::int64_t> numbers,
                  std::span<const std::byte> schedule);
  /// Removes the group of a plan: "/plans/0001".
  Status remove_plan(const std::string& group);
  /// Closes HDF5, writes the user block, and makes the file durable, read-only (0444) and visible. Returns
  /// its size in bytes.
  Result<std::uint64_t> commit();

 private:
  struct State;
  explicit BundleWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sptile::formats
