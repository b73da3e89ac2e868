#include "tools/bundle/checks.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "formats/convert/converters.hpp"
#include "formats/convert/packed_positions.hpp"
#include "formats/core/row_order.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/core/symmetry.hpp"
#include "runtime/core/transpose.hpp"
#include "runtime/plan/stored.hpp"

namespace sptile::tools {
namespace {

using formats::FormatView;
using formats::Side;

bool is_csr(const FormatView& view) { return view.layout == &formats::kCsrLayout; }

// Expected contents of formats: the matrix of /csr or its transpose, and the positions of its entries in
// /csr.
struct Subject {
  Side side;
  formats::CsrView csr;
  std::span<const std::int64_t> source;  // empty: original order

  [[nodiscard]] std::string label() const { return side == Side::matrix ? "" : "transpose "; }
  [[nodiscard]] std::int64_t position_of(std::int64_t entry) const {
    return source.empty() ? entry : source[static_cast<std::size_t>(entry)];
  }
};

class Checks {
 public:
  Checks(const runtime::Bundle& bundle, Progress* progress) : bundle_(bundle), progress_(progress) {}

  std::vector<BundleCheck> run(bool checksums) &&;

 private:
  bool record(std::string name, Status outcome) {
    checks_.push_back({std::move(name), std::move(outcome)});
    return checks_.back().outcome.has_value();
  }
  bool check_arrays();
  bool check_source();
  bool check_order(const Subject& subject);
  void check_transpose();
  void check_plans();
  void check_format(const Subject& subject, const FormatView& view);
  void check_value_source(const Subject& subject, const FormatView& view);

  [[nodiscard]] std::span<const std::int32_t> order_of(const Subject& subject, const FormatView& view) const {
    return is_csr(view) ? std::span<const std::int32_t>() : bundle_.row_order(subject.side);
  }

  const runtime::Bundle& bundle_;
  Progress* progress_;
  std::vector<BundleCheck> checks_;
};

bool Checks::check_arrays() {
  bool sound = true;
  begin(progress_, "checksums", static_cast<std::int64_t>(bundle_.arrays().size()));
  for (const runtime::BundleArray& array : bundle_.arrays()) {
    Status same = bundle_.verify_checksum(array);
    if (!same) same.error().code = Errc::bad_input;  // in this context any difference is damage
    sound &= record("checksum " + array.path, std::move(same));
    advance(progress_, 1);
  }
  return sound;
}

bool Checks::check_source() {
  const bool sound = record("contents csr", formats::check_csr(bundle_.csr()));
  return check_order({Side::matrix, bundle_.csr(), {}}) && sound;
}

bool Checks::check_order(const Subject& subject) {
  const auto order = bundle_.row_order(subject.side);
  return order.empty() ||
         record(subject.label() + "row_order", formats::check_permutation(order, subject.csr.rows));
}

// Returns the matrix that a format of value type `dtype` should contain.
formats::Csr expected_matrix(formats::CsrView csr, std::span<const std::int32_t> order, DType dtype) {
  formats::Array rounded;
  if (!csr.is_pattern() && csr.values.dtype != dtype) {
    rounded = formats::convert_values(csr.values, dtype);
    csr.values = rounded.view();
  }
  return order.empty() ? formats::copy(csr) : formats::permute_rows(csr, order);
}

Status check_round_trip(const Subject& subject, const FormatView& view, std::span<const std::int32_t> order) {
  const auto back = formats::find_converter(view.layout->name)->to_csr(view);
  if (!back) return tl::unexpected(back.error());
  if (formats::identical(back->view(), expected_matrix(subject.csr, order, view.value_dtype()).view()))
    return {};
  return fail(Errc::check_failed, std::string(view.layout->name) + " differs from " +
                                      (subject.side == Side::matrix ? "/csr" : "the transpose of /csr") +
                                      "; convert the source again");
}

// Rebuilds the matrix with positions as values: each entry must then contain its position in /csr.
Status check_positions(const Subject& subject, const FormatView& view, ArrayView positions,
                       std::span<const std::int32_t> order) {
  const auto back = formats::rebuild_with(view, positions.as<std::int64_t>());
  if (!back) return tl::unexpected(back.error());
  const auto expected = formats::entry_positions(subject.csr, order);
  const auto found = back->values.as<std::int64_t>();
  const auto leads = [&](std::int64_t position, std::int64_t entry) {
    return position == subject.position_of(entry);
  };
  if (std::ranges::equal(found, expected.span(), leads)) return {};
  return fail(Errc::check_failed,
              "value_source of " + std::string(view.layout->name) + " does not match its values");
}

void Checks::check_value_source(const Subject& subject, const FormatView& view) {
  const std::string name(view.layout->name);
  const ArrayView positions = bundle_.value_source(name, subject.side);
  if (!positions.present()) return;
  record(subject.label() + "value source " + name,
         check_positions(subject, view, positions, order_of(subject, view)));
}

void Checks::check_format(const Subject& subject, const FormatView& view) {
  const std::string name(view.layout->name);
  begin(progress_, "formats", 0);
  if (!record(subject.label() + "contents " + name, formats::check(view))) return;
  if (!record(subject.label() + "round trip " + name,
              check_round_trip(subject, view, order_of(subject, view))))
    return;
  check_value_source(subject, view);
}

Status check_symmetry(const formats::CsrView& csr, bool stated) {
  if (runtime::is_symmetric(csr) == stated) return {};
  return fail(Errc::check_failed, std::string("the header declares the matrix ") + (stated ? "" : "not ") +
                                      "symmetric; convert the source again");
}

// If the matrix is symmetric, its formats have been checked, and only the positions differ.
void Checks::check_transpose() {
  const std::optional<bool> symmetric = bundle_.symmetric();
  if (symmetric && !record("symmetry", check_symmetry(bundle_.csr(), *symmetric))) return;
  if (bundle_.formats(Side::transpose).empty()) return;
  const runtime::TransposedCsr turned = runtime::transpose(bundle_.csr());
  const Subject subject{Side::transpose, turned.view(), turned.source()};
  if (symmetric.value_or(false)) {
    for (const FormatView& view : bundle_.formats()) check_value_source(subject, view);
  } else if (check_order(subject)) {
    for (const FormatView& view : bundle_.formats(Side::transpose)) check_format(subject, view);
  }
}

// Plans for formats of a newer version are skipped, as those formats are.
void Checks::check_plans() {
  for (const runtime::StoredPlan& plan : bundle_.plans()) {
    const Side side = plan.field("side") == "transpose" ? Side::transpose : Side::matrix;
    if (const FormatView* const view = bundle_.format(plan.field("format"), side); view != nullptr)
      record("plan " + std::string(plan.name), runtime::prove_stored(plan, *view));
  }
}

std::vector<BundleCheck> Checks::run(bool checksums) && {
  const bool arrays = !checksums || check_arrays();
  if (!check_source() || !arrays) return std::move(checks_);
  const Subject source{Side::matrix, bundle_.csr(), {}};
  for (const FormatView& view : bundle_.formats())
    if (!is_csr(view)) check_format(source, view);
  const auto sound = [this] {
    return std::ranges::all_of(checks_, [](const BundleCheck& c) { return c.outcome.has_value(); });
  };
  if (sound()) check_transpose();
  if (sound()) check_plans();
  return std::move(checks_);
}

}  // namespace

std::vector<BundleCheck> check_bundle(const runtime::Bundle& bundle, Progress* progress, bool checksums) {
  return Checks(bundle, progress).run(checksums);
}

}  // namespace sptile::tools
