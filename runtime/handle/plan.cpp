#include "runtime/handle/plan.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "formats/layout/registry.hpp"
#include "runtime/plan/from_device.hpp"
#include "runtime/plan/product_plan.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatLayout;

/// The formats that are named; all that are stored when none is.
Result<std::vector<const FormatLayout*>> named_formats(const Matrix& matrix, std::string_view names) {
  if (names.empty() || names == "auto") return matrix.formats();
  std::vector<const FormatLayout*> all;
  for (std::size_t at = 0, comma = 0; comma < names.size(); at = comma + 1) {
    comma = std::min(names.find(',', at), names.size());
    const std::string_view name = names.substr(at, comma - at);
    all.push_back(formats::find_layout(name));
    if (all.back() == nullptr)
      return fail(Errc::usage,
                  "plan: no format is called " + std::string(name) + "; 'sptile list formats' names them");
  }
  return all;
}

Result<std::vector<PlanMatrix>> stored_formats(const Matrix& matrix,
                                               const std::vector<const FormatLayout*>& layouts) {
  std::vector<PlanMatrix> all;
  for (const FormatLayout* layout : layouts) {
    auto one = matrix.stored(*layout);
    if (!one) return tl::unexpected(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

/// Makes plans with formats of a matrix.
struct Planner {
  Matrix& matrix;
  const Operation& op;
  void* stream;

  [[nodiscard]] bool is_stored(const FormatLayout& layout) const { return matrix.stored(layout).has_value(); }

  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> plan(const FormatLayout& layout,
                                                          const PlanOptions& options) const {
    const auto device = check_options(options);  // before anything that takes long
    if (!device) return tl::unexpected(device.error());
    if (Status s = check_extent(matrix.rows(), matrix.cols(), options); !s) return tl::unexpected(s.error());
    FormatRequest request{&layout, {}, options.device, options.device_ordinal, stream};
    if (options.device == Device::cuda && !is_stored(layout)) {
      const auto parameter = parameter_for(op, layout, matrix.dtype(), options, *device);
      if (!parameter) return tl::unexpected(parameter.error());
      request.parameter = *parameter;
    }
    const auto held = matrix.hold(request);
    if (!held) return tl::unexpected(held.error());
    auto plan = plan_product(op, *held, options);
    if (!plan) return plan;
    if (Status s = matrix.catch_up(**held); !s) return tl::unexpected(s.error());
    return plan;
  }
};

/// What the matrix says holds for its plans.
PlanOptions options_for(const Matrix& matrix, const PlanOptions& options) {
  PlanOptions same = options;
  same.refreshable = matrix.options().refreshable;
  same.trusted = matrix.options().trusted;
  return same;
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> plan_matrix(Matrix& matrix, const Operation& op,
                                                 std::string_view formats, const PlanOptions& options,
                                                 void* stream) {
  const PlanOptions wanted = options_for(matrix, options);
  const auto layouts = named_formats(matrix, formats);
  if (!layouts) return tl::unexpected(layouts.error());
  const Planner planner{matrix, op, stream};
  const bool chosen_kernel = wanted.choice == Choice::predicted || !planner.is_stored(*layouts->front());
  if (layouts->size() == 1 && chosen_kernel) return planner.plan(*layouts->front(), wanted);
  const auto matrices = stored_formats(matrix, *layouts);
  if (!matrices) return tl::unexpected(matrices.error());
  auto chosen = choose_plan(op, *matrices, wanted, [&](std::size_t i, const PlanOptions& one) {
    return planner.plan(*(*layouts)[i], one);
  });
  if (!chosen) return tl::unexpected(chosen.error());
  return std::move(chosen->plan);
}

Result<std::vector<Candidate>> predict_matrix(const Matrix& matrix, const Operation& op,
                                              std::string_view formats, const PlanOptions& options) {
  const auto layouts = named_formats(matrix, formats);
  if (!layouts) return tl::unexpected(layouts.error());
  const auto matrices = stored_formats(matrix, *layouts);
  if (!matrices) return tl::unexpected(matrices.error());
  return predict_product(op, *matrices, options_for(matrix, options));
}

}  // namespace sptile::runtime
