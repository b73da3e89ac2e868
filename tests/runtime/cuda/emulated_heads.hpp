// Several heads in one launch of an emulated kernel, compared bit by bit with a launch for each of them.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "runtime/run_values.hpp"
#include "tests/runtime/cuda/emulated_product.hpp"
#include "tests/runtime/head_operands.hpp"

namespace sptile::test {

struct EmulatedHeads {
  const runtime::Operation& op;
  formats::FormatView format;
  std::span<const std::int32_t> order;
  std::int64_t n = 32, heads = 3;
  HeadLayout layout = HeadLayout::behind;
  HeadValues values = HeadValues::of_matrix;
  double alpha = 1, beta = 0;
  bool scaled = false;
  HeadGaps gaps = {};
  std::int64_t planned_n = 0;
  runtime::cuda::DeviceInfo device = emulated_device();

  [[nodiscard]] runtime::OperandSizes sizes() const {
    return {format.rows, format.cols, format.nnz, {n, n, heads}};
  }
};

/// Launches of a kernel with its own schedule and workspace.
class EmulatedPlan {
 public:
  EmulatedPlan(const runtime::cuda::DeviceKernel& kernel, const EmulatedHeads& p, std::int64_t heads)
      : kernel_(kernel), p_(p), heads_(heads) {
    runtime::Variant variant;
    variant.heads = heads;
    schedule_ = stored_schedule(kernel, {.format = p.format,
                                         .n = p.planned_n != 0 ? p.planned_n : p.n,
                                         .device = p.device,
                                         .variant = variant});
    workspace_.resize(schedule_.workspace_bytes / sizeof(double) + 2);  // of zeros, counters or not
    bytes_.resize(schedule_.bytes.size() / sizeof(std::max_align_t) + 1);
    if (!schedule_.bytes.empty()) std::memcpy(bytes_.data(), schedule_.bytes.data(), schedule_.bytes.size());
  }

  void launch(const runtime::Operands& operands) {
    runtime::cuda::Launch launch;
    launch.format = runtime::with_values(with_addresses(p_.format), operands.values);
    launch.row_order = p_.order.empty() ? nullptr : p_.order.data();
    launch.schedule = reinterpret_cast<const std::byte*>(bytes_.data());
    launch.workspace = reinterpret_cast<std::byte*>(workspace_.data());
    launch.header = &schedule_.header;
    launch.operands = operands;
    launch.n = p_.n;
    launch.sizes = {p_.n, p_.n, heads_};
    launch.device = &p_.device;
    CHECK(kernel_.launch(launch, nullptr) == 0);
    CHECK_FALSE(EmulatedWarp::diverged);
    CHECK_FALSE(memory_order.violated);
  }

 private:
  const runtime::cuda::DeviceKernel& kernel_;
  const EmulatedHeads& p_;
  std::int64_t heads_;
  runtime::cuda::Schedule schedule_;
  std::vector<double> workspace_;
  std::vector<std::max_align_t> bytes_;
};

/// Runs twice, so that counters that are left over are seen.
inline void check_emulated_heads(const runtime::cuda::DeviceKernel& kernel, const EmulatedHeads& p,
                                 Random& random) {
  CAPTURE(kernel.kernel);
  CAPTURE(name_of(kernel.dense));
  CAPTURE(p.n);
  CAPTURE(p.heads);
  CAPTURE(static_cast<int>(p.layout));
  CAPTURE(static_cast<int>(p.values));
  REQUIRE(kernel.batched);
  const runtime::DenseTypes types = types_of(kernel);
  const DType value_type = p.format.value_dtype();
  std::vector<HeadOperand> dense;
  for (const runtime::OperandSpec& spec : p.op.operands)
    dense.emplace_back(spec, p.sizes(), p.layout, p.gaps, type_of(spec, types), random);
  runtime::Operands operands{.alpha = p.alpha, .beta = p.beta, .scaled = p.scaled};
  for (std::size_t i = 0; i < dense.size(); ++i) operands.dense[i] = dense[i].operand;
  const formats::Array values = random_values(p.format.nnz * p.heads + 1, value_type, random);
  if (p.values != HeadValues::of_matrix) operands.values = values.data();
  if (p.values == HeadValues::own) operands.values_batch = p.format.nnz;

  std::vector<std::byte>& result = dense.back().bytes;
  const std::vector<std::byte> before = result;
  EmulatedPlan one(kernel, p, 1);
  for (int run = 0; run < 2; ++run)
    for (std::int64_t head = 0; head < p.heads; ++head)
      one.launch(operands_of_head(p.op, operands, head, p.sizes(), types, value_type));
  const std::vector<std::byte> expected = result;
  std::copy(before.begin(), before.end(), result.begin());
  EmulatedPlan all(kernel, p, p.heads);
  for (int run = 0; run < 2; ++run) all.launch(operands);
  CHECK(result == expected);
  if (p.format.rows > 0 && p.format.nnz > 0) CHECK(result != before);
}

}  // namespace sptile::test
