// Writes the HDF5 bundle.
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
  int fd = -1;  ///< an empty file that is open (see AtomicFile::borrow), written instead; the path names it
  /// Arrays get their places, and no contents: the file has the size of the bundle, and is none.
  bool layout_only = false;
  std::uint64_t user_block = 64 << 10;  ///< power of two, 4096 to 1 MiB
  Parameters attributes = {};           ///< on "/": source_name, source_sha256, options, seed, ordering, ...
  Progress* progress = nullptr;
};

/// Writes one bundle: create, add_csr, add_symmetry where it is known, then at most one add_row_order, then
/// add_format for each format; the last two again for A^T, where that is wanted; all of it again for each
/// further matrix (begin_matrix); then commit. Or extend, then plans, then commit. Each add writes its arrays
/// and forgets them, so only one format need be in memory at a time. Dropping the writer without commit
/// removes the temporary. Errors: Errc::io (system), Errc::usage (exists, bad user_block).
class BundleWriter {
 public:
  static Result<BundleWriter> create(const std::string& path, const BundleWriteOptions& options);
  /// The same in a file that was begun, and is called `path` in messages.
  static Result<BundleWriter> create(AtomicFile file, const std::string& path,
                                     const BundleWriteOptions& options);
  /// Goes on with the bundle at `path`, which is open as `source` (read from start to end, whatever its
  /// position): `commit` replaces it by a copy to which plans were added, or from which they were taken.
  /// Everything else has the same bytes at the same place. Errc::bad_input for a file whose header is not
  /// that of a bundle, Errc::io where another file has taken its name.
  static Result<BundleWriter> extend(int source, const std::string& path, Progress* progress = nullptr);
  BundleWriter(BundleWriter&&) noexcept;
  BundleWriter& operator=(BundleWriter&&) noexcept;
  ~BundleWriter();

  /// What is added from now on is of another matrix, in the group "/NAME". It has values of the same type, or
  /// none, as the first one.
  Status begin_matrix(const std::string& name);
  /// The source matrix in its original row order; values f32 or f64 (widen f16 and bf16 first), or none.
  Status add_csr(const CsrView& a);
  /// Whether the matrix equals its transpose, bit by bit.
  Status add_symmetry(bool symmetric);
  /// new_to_old, one id per row (of A^T: per column).
  Status add_row_order(std::span<const std::int32_t> new_to_old, Side side = Side::matrix);
  /// A format over the reordered rows. `value_source` (i64, see formats::value_source) may be absent. `csr`
  /// is refused, but for A^T, which must have it and has none of a symmetric matrix.
  Status add_format(const FormatView& view, const Parameters& parameters, ArrayView value_source = {},
                    Side side = Side::matrix);
  /// All that A^T of a symmetric matrix has of its own: refreshed values need not be symmetric, and what is
  /// entry (i, j) of A^T then comes from (j, i).
  Status add_transposed_source(const FormatLayout& layout, ArrayView value_source);
  /// What was left to the writer and how it decided, UTF-8, a line each: an array for those who read the
  /// table, and an attribute for programs that use HDF5.
  Status add_choices(const std::string& lines);
  /// Arrays beside the matrices, in a group of their own: "/part" with "id".
  Status add_arrays(const std::string& group, std::span<const std::pair<std::string_view, ArrayView>> arrays);
  /// Appends a plan (docs/reference/formats/bundle.md). Errc::usage when the table is full.
  Status add_plan(std::string_view key, std::span<const std::int64_t> numbers,
                  std::span<const std::byte> schedule);
  /// Takes away the group of a plan: "/plans/0001".
  Status remove_plan(const std::string& group);
  /// Closes HDF5, writes the user block, makes the file durable, read-only (0444) and visible. Returns its
  /// size.
  Result<std::uint64_t> commit();

 private:
  struct State;
  explicit BundleWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sptile::formats
