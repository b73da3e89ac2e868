// The matrix of a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "formats/core/array_view.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/stored_plan.hpp"

namespace sptile::runtime {

/// What is multiplied: one format of a matrix, where its rows go, and (for refresh) where its values come
/// from. Borrowed arrays must outlive the plan; `owner` keeps them alive (a Bundle, for example) and may be
/// null.
struct PlanMatrix {
  formats::FormatView format;
  std::span<const std::int32_t> row_order;  ///< new_to_old over the format's rows; empty: as they stand
  ArrayView value_source;                   ///< i64 positions; may be absent
  std::shared_ptr<const void> owner;
  bool transposed = false;     ///< of A^T: without value_source nobody knows where its values come from
  bool own_transpose = false;  ///< arrays are those of A^T, not of an A that equals it
  std::span<const StoredPlan> stored = {};  ///< plans for this matrix, of all its formats; `owner` keeps them
};

}  // namespace sptile::runtime
