// What people are told of operations: all of it comes from their rows, see runtime/operation/operation.hpp.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/operation/operation.hpp"

namespace sptile::tools {

/// "spmm", "sddmm".
std::vector<std::string> operation_names();

/// The operation of a name that the command line has checked.
const runtime::Operation& operation_named(std::string_view name);

/// What the dense matrices of an operation are called: "B and C", "X and Y".
std::string matrix_names(const runtime::Operation& op);

/// What the operations compute: "C = A B (spmm), or X Y^T at the entries of A (sddmm)".
std::string operations_help();

/// Whose columns N counts: "columns of B, or of X and Y".
std::string columns_help();

/// True for what is only written when it is asked for: nobody measures with it.
inline bool is_left_out(const runtime::OperandSpec& spec) { return spec.optional && spec.result; }

/// True when the result is a list with a number for each entry of A.
inline bool lists_entries(const runtime::Operation& op) {
  return op.result().extent == runtime::Extent::entries;
}

/// True when something that is measured with is such a list. They are in the order of the format.
inline bool has_entry_lists(const runtime::Operation& op) {
  return std::any_of(op.operands.begin(), op.operands.end(), [](const runtime::OperandSpec& spec) {
    return spec.extent == runtime::Extent::entries && !is_left_out(spec);
  });
}

}  // namespace sptile::tools
