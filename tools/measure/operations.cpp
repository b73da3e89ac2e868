#include "tools/measure/operations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

namespace sptile::tools {
namespace {

using runtime::Extent;
using runtime::OperandSpec;
using runtime::Operation;

template <class Predicate>
std::string operand_names(const Operation& op, Predicate predicate) {
  std::vector<std::string_view> names;
  for (const OperandSpec& spec : op.operands)
    if (predicate(spec)) names.push_back(spec.name);
  return fmt::format("{}", fmt::join(names, " and "));
}

}  // namespace

std::vector<std::string> operation_names() {
  std::vector<std::string> names;
  for (const Operation* op : runtime::operations()) names.emplace_back(op->name);
  return names;
}

const Operation& operation_named(std::string_view name) {
  const Operation* const op = runtime::find_operation(name);
  assert(op != nullptr);
  return *op;
}

std::string matrix_names(const Operation& op) {
  return operand_names(op, [](const OperandSpec& spec) { return spec.extent != Extent::entries; });
}

std::string operations_help() {
  std::vector<std::string> parts;
  for (const Operation* op : runtime::operations())
    parts.push_back(fmt::format("`{}`: {}", op->name, op->summary));
  return fmt::format("{}.", fmt::join(parts, "; "));
}

std::string columns_help() {
  std::vector<std::string> parts;
  for (const Operation* op : runtime::operations()) {
    if (!op->standalone) continue;
    std::string names = operand_names(*op, [](const OperandSpec& spec) {
      return !spec.result && spec.width == runtime::Width::n &&
             (spec.extent == Extent::rows || spec.extent == Extent::cols);
    });
    if (!names.empty() && std::ranges::count(parts, names) == 0) parts.push_back(std::move(names));
  }
  return fmt::format("Number of columns of {}", fmt::join(parts, ", or of "));
}

}  // namespace sptile::tools
