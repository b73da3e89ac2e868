// Matrix of a plan.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "formats/core/array_view.hpp"
#include "formats/layout/format_layout.hpp"
#include "runtime/core/stored_plan.hpp"

namespace sptile::runtime {

/// The matrix of a plan: one format, its row order and, for refresh, the source positions of its values.
/// Borrowed arrays must outlive the plan; `owner` keeps them alive (a Bundle, for example) and may be null.
struct PlanMatrix {
  formats::FormatView format;
  std::span<const std::int32_t> row_order;  ///< new_to_old over the format's rows; empty: original order
  ArrayView value_source;                   ///< i64 source position of each value; optional
  std::shared_ptr<const void> owner;
  bool transposed = false;     ///< the format contains A^T; refresh then requires value_source
  bool own_transpose = false;  ///< the arrays were built from A^T, not from an A that equals its transpose
  /// stored plans of all formats of the matrix; `owner` keeps them alive
  std::span<const StoredPlan> stored = {};
};

}  // namespace sptile::runtime
