#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "runtime/bundle/bundle.hpp"
#include "tools/bundle/checks.hpp"
#include "tools/cli/colour.hpp"
#include "tools/cli/input_options.hpp"
#include "tools/cli/json.hpp"
#include "tools/commands/commands.hpp"
#include "tools/partition/check.hpp"
#include "tools/pipeline/input.hpp"
#include "tools/stats/matrix_difference.hpp"

namespace sptile::tools {
namespace {

constexpr const char* kHeaderCheck = "header";
const std::string kAgainst = "against ";

struct VerifyOptions {
  std::string bundle, against;
  InputOptions input;
};

bool is_folder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Status check_against(Session& session, const VerifyOptions& options, const formats::CsrView& a,
                     const std::string& name) {
  const DType dtype = a.is_pattern() ? DType::f32 : a.values.dtype;
  const auto source = load_matrix(session, options.against, options.input.load(dtype));
  if (!source) return tl::unexpected(source.error());
  const auto difference = find_difference(a, name, source->csr.view(), base_name(options.against));
  return difference ? fail(Errc::check_failed, "a different matrix: " + *difference) : Status();
}

// Both matrices must be in memory to find differences.
std::vector<BundleCheck> run_partition_checks(Session& session, const VerifyOptions& options) {
  std::vector<BundleCheck> checks;
  const auto partition = check_partition(options.bundle, &session.progress, checks, session.copy);
  if (!partition || options.against.empty()) return checks;
  const formats::Csr whole = whole_matrix(*partition);
  checks.push_back(
      {kAgainst + options.against, check_against(session, options, whole.view(), "the partition")});
  return checks;
}

bool passes(const BundleCheck& check) { return check.outcome.has_value(); }

std::vector<BundleCheck> run_checks(Session& session, const VerifyOptions& options) {
  if (is_folder(options.bundle)) return run_partition_checks(session, options);
  const auto bundle = open_bundle(session, options.bundle);
  std::vector<BundleCheck> checks = {
      {kHeaderCheck, bundle ? Status{} : Status(tl::unexpected(bundle.error()))}};
  if (!bundle) return checks;
  std::ranges::move(check_bundle(**bundle, &session.progress), std::back_inserter(checks));
  if (options.against.empty()) return checks;
  const bool sound = std::ranges::all_of(checks, passes);
  Status same = check_against(session, options, (*bundle)->csr(), "the bundle");
  if (sound && !same && same.error().code == Errc::check_failed)
    same.error().message = "valid, but " + same.error().message;
  checks.push_back({kAgainst + options.against, std::move(same)});
  return checks;
}

// The first failure determines the exit code; damaged files take precedence over different numbers.
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
  if (worst->name == kHeaderCheck || error.where.ends_with("/" + worst->name)) return worst->outcome;
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

// Returns the verdict on the bundle itself, followed by that of the comparison.
std::string verdict(const std::vector<BundleCheck>& checks) {
  const bool compared = checks.back().name.starts_with(kAgainst);
  if (!std::ranges::all_of(checks.begin(), checks.end() - (compared ? 1 : 0), passes))
    return styled(Style::bad, "INVALID");
  if (passes(checks.back())) return styled(Style::good, "valid");
  return styled(Style::good, "valid") + (checks.back().outcome.error().code == Errc::check_failed
                                             ? ", but a different matrix"
                                             : ", but not compared");
}

// Returns the failed checks, and with --verbose also the passed ones.
std::string verify_text(const Session& session, const VerifyOptions& options,
                        const std::vector<BundleCheck>& checks) {
  std::string text;
  for (const BundleCheck& check : checks) {
    if (!check.outcome)
      text +=
          fmt::format("{} {}: {}\n", styled(Style::bad, "FAILED"), check.name, check.outcome.error().message);
    else if (session.common.verbose)
      text += fmt::format("{}     {}\n", styled(Style::good, "ok"), check.name);
  }
  const auto passed = std::ranges::count_if(checks, passes);
  return text + fmt::format("{}: {}, {} of {} checks passed\n", options.bundle, verdict(checks), passed,
                            checks.size());
}

Status run_verify(Session& session, const VerifyOptions& options) {
  const std::vector<BundleCheck> checks = run_checks(session, options);
  const Status outcome = outcome_of(checks, options);
  // A file that cannot be read at all is an error, not a failed check.
  if (checks.size() == 1 && !outcome && outcome.error().code == Errc::io) return outcome;
  print_result(session, verify_json(session, options, checks, outcome.has_value()),
               verify_text(session, options, checks));
  return outcome;
}

Action declare_verify(Options& app) {
  auto options = std::make_shared<VerifyOptions>();
  app.add_option("BUNDLE", options->bundle, "Bundle or partition directory to check").required();
  app.add_option("--against IN", options->against, "Matrix that must equal the source in the bundle")
      .details(
          "Values are compared bit by bit. The message reports different sizes and the first difference in "
          "row "
          "order, counted from 1. Input options such as `--from` apply to this matrix.");
  declare_input(app, options->input);
  return [options](Session& session) { return run_verify(session, *options); };
}
}  // namespace

const Verb kVerify = {
    .name = "verify",
    .summary = "Check a bundle or a partition: checksums, invariants, round trips",
    .details =
        "Checks the header, the checksum of every array and the invariants of every format. Converts each "
        "format "
        "back and compares it with the source matrix, rounded to the type of the format. Also checks the "
        "sources "
        "of refreshable values, the recorded symmetry and the formats of the transpose. Exit code 3 means a "
        "damaged file, 7 an intact file with different numbers.\n\n"
        "For a directory written by `sptile partition`, checks each part, the exchange lists of all parts "
        "against "
        "each other, and that the parts form the partitioned matrix. Exit code 5 means a missing part, 3 a "
        "damaged part or one of another partition.",
    .json_keys = "`ok`, `checks[]` (`name`, `ok`, `message`).",
    .example = "  sptile verify matrix.h5 --against matrix.mtx",
    .declare = declare_verify};

}  // namespace sptile::tools
