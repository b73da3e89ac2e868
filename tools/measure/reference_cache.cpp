#include "tools/measure/reference_cache.hpp"

#include <algorithm>
#include <atomic>

#include "formats/core/parallel_loop.hpp"
#include "runtime/reference/compare.hpp"

namespace sptile::tools {
namespace {

constexpr std::int64_t kBlockRows = 64;
constexpr std::int64_t kSomeProducts = std::int64_t{1} << 26;

bool is_list(const runtime::Operation& op, std::size_t operand) {
  return op.operands[operand].extent == runtime::Extent::entries;
}

bool reads_lists(const runtime::Operation& op, const runtime::Operands& operands) {
  for (std::size_t i = 0; i < op.operands.size(); ++i)
    if (is_list(op, i) && !op.operands[i].result && operands.dense[i].data != nullptr) return true;
  return false;
}

// Returns the count of result numbers of some rows.
std::size_t numbers_of(const runtime::Operation& op, const runtime::ReferenceProduct& part,
                       const runtime::Operands& operands) {
  const std::int64_t m = part.variant.m != 0 ? part.variant.m : part.n;
  const runtime::OperandSizes sizes = {
      part.a.rows, part.a.cols, part.a.row_ptr.back() - part.a.row_ptr.front(), {part.n, m}};
  std::int64_t count = 0;
  for (std::size_t i = 0; i < op.operands.size(); ++i) {
    const runtime::OperandShape shape = shape_of(op.operands[i], sizes);
    if (op.operands[i].result && operands.dense[i].data != nullptr) count += shape.rows * shape.width;
  }
  return static_cast<std::size_t>(count);
}

std::size_t operand_at(const runtime::Operands& operands, const void* data) {
  std::size_t operand = 0;
  while (operands.dense[operand].data != data) ++operand;
  return operand;
}

void raise(std::atomic<double>& worst, double found) {
  double known = worst;
  while (!(found <= known) && !worst.compare_exchange_weak(known, found)) {
  }
}

}  // namespace

void ReferenceCache::clear() {
  blocks_.clear();
  kept_ = 0;
}

bool ReferenceCache::reserve(std::size_t numbers) {
  const std::atomic_ref kept(kept_);
  if (kept.fetch_add(numbers) + numbers <= max_) return true;
  kept -= numbers;
  return false;
}

auto ReferenceCache::compute(const runtime::Operation& op, const runtime::ReferenceProduct& part,
                             const runtime::Operands& operands, std::size_t numbers) -> Block {
  Block block;
  block.values.reserve(numbers);
  block.scales.reserve(numbers);
  op.reference(part, operands, nullptr,
               [&](const void* data, DType type, std::int64_t at, const runtime::ReferenceNumber& number) {
                 if (data == nullptr) return;
                 const bool follows = !block.runs.empty() &&
                                      operands.dense[block.runs.back().operand].data == data &&
                                      block.runs.back().first + block.runs.back().count == at;
                 if (!follows) block.runs.push_back({operand_at(operands, data), type, at, 0});
                 ++block.runs.back().count;
                 if (number.slack != 0) block.slacks.resize(block.values.size());
                 if (number.slack != 0 || !block.slacks.empty()) block.slacks.push_back(number.slack);
                 block.values.push_back(number.value);
                 block.scales.push_back(number.scale);
               });
  return block;
}

double ReferenceCache::compare(const Block& block, const runtime::Operation& op,
                               const runtime::Operands& operands, std::span<const std::int64_t> packed) {
  double worst = 0;
  std::size_t k = 0;
  for (const Run& run : block.runs) {
    const void* const data = operands.dense[run.operand].data;
    const bool placed = is_list(op, run.operand) && !packed.empty();
    for (std::int64_t at = run.first; at < run.first + run.count; ++at, ++k) {
      const std::int64_t place = placed ? packed[static_cast<std::size_t>(at)] : at;
      worst = std::max(worst, runtime::number_error(run.type, runtime::read_element(run.type, data, place),
                                                    {block.values[k], block.scales[k],
                                                     block.slacks.empty() ? 0 : block.slacks[k]}));
    }
  }
  return worst;
}

double ReferenceCache::block_error(const runtime::Operation& op, const runtime::ReferenceProduct& part,
                                   const runtime::Operands& operands, Block& block) {
  if (block.runs.empty()) {
    const std::size_t numbers = numbers_of(op, part, operands);
    if (reads_lists(op, operands) || !reserve(numbers)) return measure_error(op, part, operands);
    runtime::ReferenceProduct in_order = part;
    in_order.packed = {};
    block = compute(op, in_order, operands, numbers);
  }
  return compare(block, op, operands, part.packed);
}

double ReferenceCache::error(const runtime::Operation& op, const runtime::ReferenceProduct& product,
                             const OperandsFrom& operands, CheckedRows rows, Progress* progress) {
  const formats::CsrView& a = product.a;
  if (a.values.dtype != values_) clear();
  values_ = a.values.dtype;
  const std::int64_t height = op.row_local ? kBlockRows : std::max<std::int64_t>(a.rows, 1);
  const std::int64_t count = (a.rows + height - 1) / height;
  const std::int64_t step =
      rows == CheckedRows::all ? 1 : std::max<std::int64_t>(a.nnz() * product.n / kSomeProducts, 1);
  blocks_.resize(static_cast<std::size_t>(count));
  begin(progress, "check", (count + step - 1) / step);
  std::atomic<double> worst = 0;
  parallel::loop(std::int64_t{0}, (count + step - 1) / step, [&](std::int64_t i) {
    const std::int64_t row = i * step * height;
    runtime::ReferenceProduct part = product;
    part.a.rows = std::min(height, a.rows - row);
    part.a.row_ptr =
        a.row_ptr.subspan(static_cast<std::size_t>(row), static_cast<std::size_t>(part.a.rows) + 1);
    raise(worst, block_error(op, part, operands(row), blocks_[static_cast<std::size_t>(i * step)]));
    advance(progress, 1);
  });
  return worst;
}

}  // namespace sptile::tools
