#include "tools/bundle/checks.hpp"

#include <algorithm>
#include <utility>

#include "formats/convert/converters.hpp"
#include "formats/convert/packed_positions.hpp"
#include "formats/layout/csr.hpp"
#include "formats/row_order.hpp"

namespace sptile::tools {
namespace {

using formats::FormatView;

class Checks {
 public:
  Checks(const runtime::Bundle& bundle, Progress* progress) : bundle_(bundle), progress_(progress) {}

  std::vector<BundleCheck> run() &&;

 private:
  bool record(std::string name, Status outcome) {
    checks_.push_back({std::move(name), std::move(outcome)});
    return checks_.back().outcome.has_value();
  }
  bool check_arrays();
  bool check_source();
  void check_format(const FormatView& view);
  [[nodiscard]] Status check_round_trip(const FormatView& view) const;
  [[nodiscard]] Status check_value_source(const FormatView& view, ArrayView positions) const;

  const runtime::Bundle& bundle_;
  Progress* progress_;
  std::vector<BundleCheck> checks_;
};

bool Checks::check_arrays() {
  bool sound = true;
  begin(progress_, "checksums", static_cast<std::int64_t>(bundle_.arrays().size()));
  for (const runtime::BundleArray& array : bundle_.arrays()) {
    Status same = bundle_.verify_checksum(array);
    if (!same) same.error().code = Errc::bad_input;  // here a changed byte is damage, whatever the numbers
    sound &= record("checksum " + array.path, std::move(same));
    advance(progress_, 1);
  }
  return sound;
}

bool Checks::check_source() {
  bool sound = record("contents csr", formats::check_csr(bundle_.csr()));
  if (!bundle_.row_order().empty())
    sound &= record("row_order", formats::check_permutation(bundle_.row_order(), bundle_.rows()));
  return sound;
}

// The source matrix as a format of value type `dtype` should hold it.
formats::Csr expected_matrix(const runtime::Bundle& bundle, DType dtype) {
  formats::CsrView csr = bundle.csr();
  formats::Array rounded;
  if (!csr.is_pattern() && csr.values.dtype != dtype) {
    rounded = formats::convert_values(csr.values, dtype);
    csr.values = rounded.view();
  }
  const auto order = bundle.row_order();
  return order.empty() ? formats::copy(csr) : formats::permute_rows(csr, order);
}

Status Checks::check_round_trip(const FormatView& view) const {
  const auto back = formats::find_converter(view.layout->name)->to_csr(view);
  if (!back) return tl::unexpected(back.error());
  if (formats::identical(back->view(), expected_matrix(bundle_, view.value_dtype()).view())) return {};
  return fail(Errc::check_failed,
              std::string(view.layout->name) + " is another matrix than /csr; convert the source again");
}

// Rebuilds the matrix with positions in place of values: each entry must then hold its own position in /csr.
Status Checks::check_value_source(const FormatView& view, ArrayView positions) const {
  const auto back = formats::rebuild_with(view, positions.as<std::int64_t>());
  if (!back) return tl::unexpected(back.error());
  const auto expected = formats::entry_positions(bundle_.csr(), bundle_.row_order());
  const auto found = back->values.as<std::int64_t>();
  if (std::equal(expected.begin(), expected.end(), found.begin(), found.end())) return {};
  return fail(Errc::check_failed,
              "value_source of " + std::string(view.layout->name) + " does not lead to its values");
}

void Checks::check_format(const FormatView& view) {
  const std::string name(view.layout->name);
  if (name == "csr") return;
  begin(progress_, "formats", 0);
  if (!record("contents " + name, formats::check(view))) return;
  if (!record("round trip " + name, check_round_trip(view))) return;
  if (const ArrayView positions = bundle_.value_source(name); positions.present())
    record("value source " + name, check_value_source(view, positions));
}

std::vector<BundleCheck> Checks::run() && {
  const bool arrays = check_arrays();
  if (check_source() && arrays)
    for (const FormatView& view : bundle_.formats()) check_format(view);
  return std::move(checks_);
}

}  // namespace

std::vector<BundleCheck> check_bundle(const runtime::Bundle& bundle, Progress* progress) {
  return Checks(bundle, progress).run();
}

}  // namespace sptile::tools
