#include "runtime/handle/plan.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "formats/layout/bittcf.hpp"
#include "formats/layout/bmat.hpp"
#include "formats/layout/csr.hpp"
#include "formats/layout/registry.hpp"
#include "formats/layout/tall.hpp"
#include "runtime/plan/from_device.hpp"
#include "runtime/plan/kernel_choice.hpp"
#include "runtime/plan/measured_choice.hpp"
#include "runtime/plan/product_plan.hpp"
#include "runtime/plan/remembered.hpp"

namespace sptile::runtime {
namespace {

using formats::FormatLayout;

/// Formats to which a device converts CSR arrays for a measured choice among "any" formats.
constexpr const FormatLayout* kConverted[] = {&formats::kCsrLayout, &formats::kBitTcfLayout,
                                              &formats::kBmatLayout, &formats::kTallLayout};

/// Returns the stored formats and, for a measured choice on a device, those to which it converts, csr first.
std::vector<const FormatLayout*> any_formats(const Matrix& matrix, Side side, const PlanOptions& options) {
  auto all = matrix.formats(side);
  if (options.device == Device::cpu || options.choice == Choice::predicted) return all;
  std::vector<const FormatLayout*> first(std::begin(kConverted), std::end(kConverted));
  std::copy_if(all.begin(), all.end(), std::back_inserter(first), [&](const FormatLayout* one) {
    return std::find(first.begin(), first.end(), one) == first.end();
  });
  return first;
}

/// Returns the named formats; all stored formats if there are no names.
Result<std::vector<const FormatLayout*>> named_formats(const Matrix& matrix, const MatrixChoice& choice,
                                                       const PlanOptions& options) {
  std::string_view names = choice.formats;
  if (names == "any") {
    auto all = any_formats(matrix, choice.side, options);
    if (!all.empty()) return all;
    names = "auto";
  }
  if (names.empty() || names == "auto") {
    auto all = matrix.formats(choice.side);
    if (all.empty())
      return fail(Errc::usage,
                  "plan: the bundle has no transpose; convert with --transpose, or plan one format for CUDA");
    return all;
  }
  std::vector<const FormatLayout*> all;
  for (std::size_t at = 0, comma = 0; comma < names.size(); at = comma + 1) {
    comma = std::min(names.find(',', at), names.size());
    const std::string_view name = names.substr(at, comma - at);
    all.push_back(formats::find_layout(name));
    if (all.back() == nullptr)
      return fail(Errc::usage, "plan: unknown format " + std::string(name) + "; see 'sptile list formats'");
  }
  return all;
}

Result<std::vector<PlanMatrix>> stored_formats(const Matrix& matrix,
                                               const std::vector<const FormatLayout*>& layouts, Side side) {
  std::vector<PlanMatrix> all;
  for (const FormatLayout* layout : layouts) {
    auto one = matrix.stored(*layout, side);
    if (!one) return tl::unexpected(one.error());
    all.push_back(std::move(*one));
  }
  return all;
}

/// Creates plans with formats of a matrix.
struct Planner {
  Matrix& matrix;
  const Operation& op;
  const MatrixChoice& choice;

  [[nodiscard]] bool is_stored(const FormatLayout& layout) const {
    return matrix.stored(layout, choice.side).has_value();
  }

  [[nodiscard]] Result<std::shared_ptr<HeldFormat>> hold(const FormatLayout& layout,
                                                         const PlanOptions& options) const {
    const auto device = check_options(options);  // check before slow steps
    if (!device) return tl::unexpected(device.error());
    if (Status s = check_extent(matrix.rows(), matrix.cols(), options); !s) return tl::unexpected(s.error());
    FormatRequest request{.layout = &layout,
                          .side = choice.side,
                          .device = options.device,
                          .ordinal = options.device_ordinal,
                          .stream = choice.stream};
    if (options.device == Device::cuda && !is_stored(layout)) {
      const auto parameter = parameter_for(op, layout, matrix.dtype(), matrix.cols(), options, *device);
      if (!parameter) return tl::unexpected(parameter.error());
      request.parameter = *parameter;
    }
    return matrix.hold(request);
  }

  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> plan(const std::shared_ptr<HeldFormat>& held,
                                                          const PlanOptions& options) const {
    auto plan = plan_product(op, held, options);
    if (!plan) return plan;
    if (lists_in_csr_order(op, options))
      if (Status s = matrix.give_order(*held, choice.stream); !s) return tl::unexpected(s.error());
    if (Status s = matrix.catch_up(*held); !s) return tl::unexpected(s.error());
    return plan;
  }

  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> plan(const FormatLayout& layout,
                                                          const PlanOptions& options) const {
    const auto held = hold(layout, options);
    return held ? plan(*held, options) : tl::unexpected(held.error());
  }

  /// Returns the plan that the bundle stores for these options; nullptr if there is none.
  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> restored(PlanOptions options) const {
    options.choice = Choice::predicted;
    std::vector<PlanMatrix> all;
    for (const FormatLayout* layout : matrix.formats(choice.side))
      if (auto one = matrix.stored(*layout, choice.side)) all.push_back(std::move(*one));
    const auto found = stored_choice(op, all, options);
    if (!found) return tl::unexpected(found.error());
    if (!*found) return nullptr;
    options.kernel = (*found)->kernel;
    return plan(*all[(*found)->matrix].format.layout, options);
  }

  /// Returns the fastest plan of formats of which some are converted.
  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> fastest(const std::vector<const FormatLayout*>& layouts,
                                                             PlanOptions options) const {
    options.choice = Choice::predicted;
    formats::FormatView sizes;
    sizes.rows = matrix.rows();
    sizes.cols = matrix.cols();
    sizes.nnz = matrix.nnz();
    if (choice.side == Side::transpose) std::swap(sizes.rows, sizes.cols);
    std::shared_ptr<HeldFormat> held;  // the format made last
    const auto candidates = [&](std::size_t i) -> Result<std::vector<Candidate>> {
      auto made = hold(*layouts[i], options);
      if (!made) return tl::unexpected(made.error());
      held = std::move(*made);
      return predict_held(op, *held, options, Detail::predictions);
    };
    return fastest_plan(
        op, sizes, options,
        {layouts.size(), candidates, [&](std::size_t, const PlanOptions& one) { return plan(held, one); }});
  }

  /// Returns the plan of stored formats that choose_plan chooses.
  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> chosen(const std::vector<const FormatLayout*>& layouts,
                                                            const PlanOptions& options) const {
    const auto matrices = stored_formats(matrix, layouts, choice.side);
    if (!matrices) return tl::unexpected(matrices.error());
    auto chosen = choose_plan(op, *matrices, options,
                              [&](std::size_t i, const PlanOptions& one) { return plan(*layouts[i], one); });
    if (!chosen) return tl::unexpected(chosen.error());
    return std::move(chosen->plan);
  }

  /// Returns the fastest plan: stored in the bundle, measured before on this machine, or measured now.
  [[nodiscard]] Result<std::shared_ptr<ProductPlan>> measured(const std::vector<const FormatLayout*>& layouts,
                                                              const PlanOptions& options) const {
    const bool converts =
        options.device == Device::cuda &&
        std::any_of(layouts.begin(), layouts.end(), [&](const auto* layout) { return !is_stored(*layout); });
    if (converts && choice.formats == "any") {
      auto stored = restored(options);
      if (!stored || *stored) return stored;
    }
    const double multiplications = static_cast<double>(matrix.nnz()) * static_cast<double>(options.n);
    if (converts && multiplications < kMinMeasured) {
      PlanOptions predicted = options;
      predicted.choice = Choice::predicted;
      return plan(*layouts.front(), predicted);
    }
    const auto front = hold(*layouts.front(), options);
    const ChoicePlace place = front ? choice_place(op, **front, layouts, options) : ChoicePlace();
    if (options.stored)
      if (auto plan = recalled(place, layouts, options)) return plan;
    auto fastest = converts ? this->fastest(layouts, options) : chosen(layouts, options);
    if (fastest)
      remember(place,
               {std::string((*fastest)->matrix.format.layout->name), std::string(kernel_name(**fastest))});
    return fastest;
  }

  /// Returns the plan of a choice that was measured before; nullptr if there is none for which plans can be
  /// made.
  [[nodiscard]] std::shared_ptr<ProductPlan> recalled(const ChoicePlace& place,
                                                      const std::vector<const FormatLayout*>& layouts,
                                                      PlanOptions options) const {
    const auto found = recall(place);
    if (!found || (!options.kernel.empty() && options.kernel != found->kernel)) return nullptr;
    options.choice = Choice::predicted;
    options.kernel = found->kernel;
    for (const FormatLayout* const layout : layouts)
      if (layout->name == found->format)
        if (auto made = plan(*layout, options)) return std::move(*made);
    return nullptr;
  }
};

/// Errc::usage for lists with A^T: numbers per entry belong to A, in the order of one of its formats.
Status check_side(const Operation& op, Side side) {
  if (side == Side::matrix || op.result().extent != Extent::entries) return {};
  return fail(Errc::usage,
              "plan: " + std::string(op.name) + " of the transpose; swap its dense operands instead");
}

/// Returns the options with those of the matrix.
PlanOptions options_for(const Matrix& matrix, const PlanOptions& options) {
  PlanOptions same = options;
  same.refreshable = matrix.options().refreshable;
  same.trusted = matrix.options().trusted;
  return same;
}

}  // namespace

Result<std::shared_ptr<ProductPlan>> plan_matrix(Matrix& matrix, const Operation& op,
                                                 const MatrixChoice& choice, const PlanOptions& options) {
  const PlanOptions requested = options_for(matrix, options);
  if (Status s = check_side(op, choice.side); !s) return tl::unexpected(s.error());
  const auto layouts = named_formats(matrix, choice, requested);
  if (!layouts) return tl::unexpected(layouts.error());
  const Planner planner{matrix, op, choice};
  const bool measures = requested.choice == Choice::measured;
  if (layouts->size() == 1 && !(measures && planner.is_stored(*layouts->front())))
    return planner.plan(*layouts->front(), requested);
  return measures ? planner.measured(*layouts, requested) : planner.chosen(*layouts, requested);
}

Result<std::vector<Candidate>> predict_matrix(const Matrix& matrix, const Operation& op,
                                              const MatrixChoice& choice, const PlanOptions& options) {
  if (Status s = check_side(op, choice.side); !s) return tl::unexpected(s.error());
  const auto layouts = named_formats(matrix, choice, options);
  if (!layouts) return tl::unexpected(layouts.error());
  const auto matrices = stored_formats(matrix, *layouts, choice.side);
  if (!matrices) return tl::unexpected(matrices.error());
  return predict_product(op, *matrices, options_for(matrix, options));
}

}  // namespace sptile::runtime
