#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "runtime/bundle/bundle.hpp"
#include "tools/bundle/checks.hpp"
#include "tools/commands/commands.hpp"
#include "tools/input.hpp"
#include "tools/json.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kHeaderCheck = "header";

struct VerifyOptions {
  std::string bundle, against;
  bool real_part = false;
};

Status check_against(Session& session, const VerifyOptions& options, const runtime::Bundle& bundle) {
  const DType dtype = bundle.is_pattern() ? DType::f32 : bundle.dtype();
  const auto source = load_matrix(session, options.against, {dtype, options.real_part, false});
  if (!source) return tl::unexpected(source.error());
  if (formats::identical(source->csr.view(), bundle.csr())) return {};
  return fail(Errc::check_failed, fmt::format("{} is another matrix than the bundle's", options.against));
}

std::vector<BundleCheck> run_checks(Session& session, const VerifyOptions& options) {
  const auto bundle = open_bundle(options.bundle);
  std::vector<BundleCheck> checks = {
      {kHeaderCheck, bundle ? Status{} : Status(tl::unexpected(bundle.error()))}};
  if (!bundle) return checks;
  std::ranges::move(check_bundle(**bundle, &session.progress), std::back_inserter(checks));
  if (!options.against.empty())
    checks.push_back({"against " + options.against, check_against(session, options, **bundle)});
  return checks;
}

// The first failure decides the exit code, but damage comes before numbers that differ.
Status outcome_of(const std::vector<BundleCheck>& checks, const VerifyOptions& options) {
  const BundleCheck* worst = nullptr;
  for (const BundleCheck& check : checks) {
    if (check.outcome) continue;
    if (worst == nullptr || (worst->outcome.error().code == Errc::check_failed &&
                             check.outcome.error().code != Errc::check_failed))
      worst = &check;
  }
  if (worst == nullptr) return {};
  const Error& error = worst->outcome.error();
  if (worst->name == kHeaderCheck) return worst->outcome;
  return fail(error.code, worst->name + ": " + error.message,
              error.where.empty() ? options.bundle : error.where);
}

Json verify_json(const Session& session, const VerifyOptions& options, const std::vector<BundleCheck>& checks,
                 bool ok) {
  Json json = new_result(session);
  json.update({{"bundle", options.bundle}, {"ok", ok}});
  json["checks"] = Json::array();
  for (const BundleCheck& check : checks)
    json["checks"].push_back({{"name", check.name},
                              {"ok", check.outcome.has_value()},
                              {"message", check.outcome ? "" : check.outcome.error().message}});
  return json;
}

// What failed; with --verbose also what passed.
std::string verify_text(const Session& session, const VerifyOptions& options,
                        const std::vector<BundleCheck>& checks, bool ok) {
  std::string text;
  for (const BundleCheck& check : checks) {
    if (!check.outcome)
      text += fmt::format("FAILED {}: {}\n", check.name, check.outcome.error().message);
    else if (session.common.verbose)
      text += fmt::format("ok     {}\n", check.name);
  }
  const auto passed =
      std::count_if(checks.begin(), checks.end(), [](const BundleCheck& c) { return c.outcome.has_value(); });
  return text + fmt::format("{}: {}, {} of {} checks passed\n", options.bundle, ok ? "sound" : "NOT sound",
                            passed, checks.size());
}

Status run_verify(Session& session, const VerifyOptions& options) {
  const std::vector<BundleCheck> checks = run_checks(session, options);
  const Status outcome = outcome_of(checks, options);
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
