// Texts about operations, derived from their table; see runtime/operation/operation.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/operation/operation.hpp"

namespace sptile::tools {

/// Returns the names of all operations, such as "spmm" and "sddmm".
std::vector<std::string> operation_names();

/// Returns the operation of a name that the command line has checked.
const runtime::Operation& operation_named(std::string_view name);

/// Returns the names of an operation's dense matrices, such as "B and C" or "X and Y".
std::string matrix_names(const runtime::Operation& op);

/// Returns the definitions of the operations: "C = A B (spmm), or X Y^T at the entries of A (sddmm)".
std::string operations_help();

/// Returns the operands whose columns N counts: "columns of B, or of X and Y".
std::string columns_help();

/// Returns whether an operand is an optional result, which measurements omit.
inline bool is_left_out(const runtime::OperandSpec& spec) { return spec.optional && spec.result; }

/// Returns whether the result is a list with one number per entry of A.
inline bool lists_entries(const runtime::Operation& op) {
  return op.result().extent == runtime::Extent::entries;
}

/// Returns whether a measured operand is such a list, whose order is that of the format.
inline bool has_entry_lists(const runtime::Operation& op) {
  return std::any_of(op.operands.begin(), op.operands.end(), [](const runtime::OperandSpec& spec) {
    return spec.extent == runtime::Extent::entries && !is_left_out(spec);
  });
}

}  // namespace sptile::tools
