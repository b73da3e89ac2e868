#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "formats/convert/converters.hpp"
#include "formats/convert/packed_positions.hpp"
#include "formats/layout/csr.hpp"
#include "runtime/bundle.hpp"
#include "tools/commands/commands.hpp"
#include "tools/input.hpp"
#include "tools/json.hpp"
#include "tools/order.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kHeaderCheck = "header";

struct VerifyOptions {
  std::string bundle, against;
  bool real_part = false;
};

struct Check {
  std::string name;
  Status outcome;
};

// Runs the checks one after another. Later ones rely on what earlier ones found sound, so each group stops at
// its first failure.
class Verification {
 public:
  Verification(Session& session, const VerifyOptions& options) : session_(session), options_(options) {}

  const std::vector<Check>& run();
  [[nodiscard]] Status outcome() const;

 private:
  bool record(std::string name, Status outcome) {
    checks_.push_back({std::move(name), std::move(outcome)});
    return checks_.back().outcome.has_value();
  }
  bool check_open();
  bool check_arrays();
  bool check_source();
  void check_format(const formats::FormatView& view);
  Status check_round_trip(const formats::FormatView& view) const;
  Status check_value_source(const formats::FormatView& view, ArrayView positions) const;
  Status check_against() const;

  Session& session_;
  const VerifyOptions& options_;
  std::shared_ptr<const runtime::Bundle> bundle_;
  std::vector<Check> checks_;
};

bool Verification::check_open() {
  auto opened = open_bundle(options_.bundle);
  if (opened) bundle_ = std::move(*opened);
  return record(kHeaderCheck, opened ? Status{} : Status(tl::unexpected(opened.error())));
}

bool Verification::check_arrays() {
  bool sound = true;
  begin(&session_.progress, "checksums", static_cast<std::int64_t>(bundle_->arrays().size()));
  for (const runtime::BundleArray& array : bundle_->arrays()) {
    Status same = bundle_->verify_checksum(array);
    if (!same) same.error().code = Errc::bad_input;  // here a changed byte is damage, whatever the numbers
    sound &= record("checksum " + array.path, std::move(same));
    advance(&session_.progress, 1);
  }
  return sound;
}

bool Verification::check_source() {
  bool sound = record("contents csr", formats::check_csr(bundle_->csr()));
  if (!bundle_->row_order().empty())
    sound &= record("row_order", formats::check_permutation(bundle_->row_order(), bundle_->rows()));
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

Status Verification::check_round_trip(const formats::FormatView& view) const {
  const auto back = formats::find_converter(view.layout->name)->to_csr(view);
  if (!back) return tl::unexpected(back.error());
  if (formats::identical(back->view(), expected_matrix(*bundle_, view.value_dtype()).view())) return {};
  return fail(Errc::check_failed,
              fmt::format("{} is another matrix than /csr; convert the source again", view.layout->name));
}

// Rebuilds the matrix with positions in place of values: each entry must then hold its own position in /csr.
Status Verification::check_value_source(const formats::FormatView& view, ArrayView positions) const {
  const auto back = formats::rebuild_with(view, positions.as<std::int64_t>());
  if (!back) return tl::unexpected(back.error());
  const auto expected = entry_positions(bundle_->csr(), bundle_->row_order());
  const auto found = back->values.as<std::int64_t>();
  if (std::equal(expected.begin(), expected.end(), found.begin(), found.end())) return {};
  return fail(Errc::check_failed,
              fmt::format("value_source of {} does not lead to its values", view.layout->name));
}

void Verification::check_format(const formats::FormatView& view) {
  const std::string name(view.layout->name);
  if (name == "csr") return;
  session_.progress.begin("formats", 0);
  if (!record("contents " + name, formats::check(view))) return;
  if (!record("round trip " + name, check_round_trip(view))) return;
  if (const ArrayView positions = bundle_->value_source(name); positions.present())
    record("value source " + name, check_value_source(view, positions));
}

Status Verification::check_against() const {
  const DType dtype = bundle_->is_pattern() ? DType::f32 : bundle_->dtype();
  const auto source = load_matrix(session_, options_.against, {dtype, options_.real_part, false});
  if (!source) return tl::unexpected(source.error());
  if (formats::identical(source->csr.view(), bundle_->csr())) return {};
  return fail(Errc::check_failed, fmt::format("{} is another matrix than the bundle's", options_.against));
}

const std::vector<Check>& Verification::run() {
  if (!check_open()) return checks_;
  const bool arrays = check_arrays();
  if (check_source() && arrays)
    for (const formats::FormatView& view : bundle_->formats()) check_format(view);
  if (!options_.against.empty()) record("against " + options_.against, check_against());
  return checks_;
}

// The first failure decides the exit code, but damage comes before numbers that differ.
Status Verification::outcome() const {
  const Check* worst = nullptr;
  for (const Check& check : checks_) {
    if (check.outcome) continue;
    if (worst == nullptr || (worst->outcome.error().code == Errc::check_failed &&
                             check.outcome.error().code != Errc::check_failed))
      worst = &check;
  }
  if (worst == nullptr) return {};
  const Error& error = worst->outcome.error();
  if (worst->name == kHeaderCheck) return worst->outcome;
  return fail(error.code, worst->name + ": " + error.message,
              error.where.empty() ? options_.bundle : error.where);
}

Json verify_json(const Session& session, const VerifyOptions& options, const std::vector<Check>& checks,
                 bool ok) {
  Json json = new_result(session);
  json.update({{"bundle", options.bundle}, {"ok", ok}});
  json["checks"] = Json::array();
  for (const Check& check : checks)
    json["checks"].push_back({{"name", check.name},
                              {"ok", check.outcome.has_value()},
                              {"message", check.outcome ? "" : check.outcome.error().message}});
  return json;
}

// What failed; with --verbose also what passed.
std::string verify_text(const Session& session, const VerifyOptions& options,
                        const std::vector<Check>& checks, bool ok) {
  std::string text;
  for (const Check& check : checks) {
    if (!check.outcome)
      text += fmt::format("FAILED {}: {}\n", check.name, check.outcome.error().message);
    else if (session.common.verbose)
      text += fmt::format("ok     {}\n", check.name);
  }
  const auto passed =
      std::count_if(checks.begin(), checks.end(), [](const Check& c) { return c.outcome.has_value(); });
  return text + fmt::format("{}: {}, {} of {} checks passed\n", options.bundle, ok ? "sound" : "NOT sound",
                            passed, checks.size());
}

Status run_verify(Session& session, const VerifyOptions& options) {
  Verification verification(session, options);
  const std::vector<Check>& checks = verification.run();
  const Status outcome = verification.outcome();
  // A file that cannot be read at all is an error like any other, not a finding.
  if (checks.size() == 1 && !outcome && outcome.error().code == Errc::io) return outcome;
  print_result(session, verify_json(session, options, checks, outcome.has_value()),
               verify_text(session, options, checks, outcome.has_value()));
  return outcome;
}

Action declare_verify(Options& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("BUNDLE", options->bundle, "bundle to check").required();
  app.add_option("--against", options->against,
                 "matrix that the bundle was made from: must be the same, bit by bit");
  app.add_flag("--real-part", options->real_part, "with --against: take the real part of a complex matrix");
  return [options](Session& session) { return run_verify(session, *options); };
}
}  // namespace

const Verb kVerify = {"verify", "check a bundle: checksums, invariants, round trip of every format",
                      "  sptile verify matrix.h5 --against matrix.mtx", declare_verify};

}  // namespace sptile::tools
