// One part of a partition, as written by `sptile partition`: two matrices and the exchange lists.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "formats/layout/part_layout.hpp"
#include "runtime/bundle/bundle.hpp"

namespace sptile::runtime {

/// A part with validated lists. A product gathers send_rows of its operand, exchanges them, and computes C =
/// local B, then C += halo R, where R contains the received rows ordered by sender. Borrows from the bundles,
/// which it keeps alive.
struct Part {
  std::shared_ptr<const Bundle> local, halo;
  std::uint64_t id = 0;  ///< id of the partition
  formats::PartNumbers numbers;
  /// Number of rows before the first one with entries in halo. Boundary rows are last, so these are the
  /// interior rows, except in partitions by earlier versions.
  std::int64_t interior = 0;
  std::span<const std::int32_t> old_ids, halo_ids;
  std::span<const std::int64_t> send_offset, receive_offset;
  std::span<const std::int32_t> send_rows;

  [[nodiscard]] std::span<const std::int32_t> sent_to(std::int64_t part) const {
    return send_rows.subspan(at(send_offset, part), at(send_offset, part + 1) - at(send_offset, part));
  }
  [[nodiscard]] std::span<const std::int32_t> needed_of(std::int64_t part) const {
    return halo_ids.subspan(at(receive_offset, part),
                            at(receive_offset, part + 1) - at(receive_offset, part));
  }

 private:
  static std::size_t at(std::span<const std::int64_t> offset, std::int64_t part) {
    return static_cast<std::size_t>(offset[static_cast<std::size_t>(part)]);
  }
};

/// Opens a part, once for both matrices, and validates its lists, which are small compared with the matrices:
/// lengths, ranges, non-decreasing offsets, ascending rows, no rows for itself. Matrices are validated as by
/// Bundle::open. Errors as for Bundle::open; Errc::bad_input also if the bundle is not a part.
Result<Part> open_part(const std::string& path, const BundleOpenOptions& options = {});

}  // namespace sptile::runtime
