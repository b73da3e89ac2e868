#include "runtime/operation/operation.hpp"

#include "runtime/operation/sddmm.hpp"
#include "runtime/operation/spmm.hpp"

namespace sptile::runtime {
namespace {
constexpr const Operation* kOperations[] = {
    &kSpmm,
    &kSddmm,
};
}

std::span<const Operation* const> operations() { return kOperations; }

const Operation* find_operation(std::string_view name) {
  for (const Operation* operation : kOperations)
    if (operation->name == name) return operation;
  return nullptr;
}

std::int64_t extent_of(const OperandSpec& operand, std::int64_t rows, std::int64_t cols, std::int64_t nnz) {
  switch (operand.extent) {
    case Extent::rows:
      return rows;
    case Extent::cols:
      return cols;
    case Extent::entries:
      return nnz;
  }
  __builtin_unreachable();
}

}  // namespace sptile::runtime
