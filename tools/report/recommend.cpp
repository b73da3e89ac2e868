#include "tools/report/recommend.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "tools/pipeline/units.hpp"
#include "tools/report/text.hpp"

namespace sptile::tools::report {
namespace {

using runtime::Candidate;

// Indices of a candidate among all orders.
struct Place {
  std::size_t in_order, candidate;
};

// Returns the cost of a candidate; nullopt if unknown.
std::optional<double> cost(const Report& report, Place at, Basis basis) {
  const FormatsInOrder& formats = report.formats[at.in_order];
  const Candidate& candidate = formats.candidates[at.candidate];
  if (!candidate.refused.empty()) return std::nullopt;
  if (basis == Basis::measured) return candidate.measured_us;
  if (basis == Basis::predicted) return candidate.predicted_us;
  return static_cast<double>(formats.moved_bytes[candidate.matrix]);
}

std::optional<Place> cheapest(const Report& report, Basis basis) {
  std::optional<Place> best;
  for (std::size_t o = 0; o < report.formats.size(); ++o)
    for (std::size_t c = 0; c < report.formats[o].candidates.size(); ++c) {
      const auto here = cost(report, {o, c}, basis);
      if (here && (!best || *here < *cost(report, *best, basis))) best = Place{o, c};
    }
  return best;
}

// Returns the cost of CSR in original order, the baseline.
std::optional<double> cost_of_csr(const Report& report, Basis basis) {
  std::optional<double> min;
  const auto& candidates = report.formats.front().candidates;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    const auto here = cost(report, {0, c}, basis);
    if (candidates[c].format == "csr" && here && (!min || *here < *min)) min = here;
  }
  return min;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

std::string order_reason(const Report& report) {
  const OrderTried &given = report.orders.front(), &best = report.orders[report.best_order];
  if (report.orders.size() == 1) return "No ordering was tried.";
  if (report.best_order == 0)
    return fmt::format(
        "No ordering gives fewer than the {1} blocks of {0} rows and 8 columns of the original order.",
        report.window_rows, grouped(given.tc_blocks));
  const double nnz = static_cast<double>(report.nnz);
  return fmt::format(
      "{} packs the entries into {} blocks of {} rows and 8 columns, {:.0f} % fewer than the original order: "
      "{:.1f} entries per block instead of {:.1f}.",
      best.label, grouped(best.tc_blocks), report.window_rows,
      percent(static_cast<double>(given.tc_blocks - best.tc_blocks), static_cast<double>(given.tc_blocks)),
      nnz / static_cast<double>(best.tc_blocks), nnz / static_cast<double>(given.tc_blocks));
}

std::string amount_text(double amount, Basis basis) {
  return basis == Basis::bytes ? human_bytes(std::llround(amount)) : human_seconds(amount * 1e-6);
}

std::string format_reason(const Report& report, Basis basis, double amount, bool is_given_csr) {
  const std::string what = basis == Basis::measured    ? "takes (measured)"
                           : basis == Basis::predicted ? "takes (predicted)"
                                                       : "transfers";
  std::string text = fmt::format("A product with N = {} {} {}", report.n, what, amount_text(amount, basis));
  const auto csr = cost_of_csr(report, basis);
  if (is_given_csr) return text + ", less than every other format and ordering.";
  if (!csr || !(amount > 0)) return text + ".";
  const double times = *csr / amount;
  return fmt::format("{}; csr in the original order takes {}, {:.{}f} times as much.", text,
                     amount_text(*csr, basis), times, times < 10 ? 2 : 0);
}

std::string floor_reason(const Report& report, double us) {
  const double share = percent(report.floor_us, us);
  const std::string bytes = human_bytes(report.compulsory_bytes),
                    floor = human_seconds(report.floor_us * 1e-6);
  if (share > 100)
    return fmt::format(
        "Transferring the minimum of {} from memory would take {}; the caches contain part of it.", bytes,
        floor);
  return fmt::format(
      "Memory bandwidth limits the time to {} for the minimum of {}; the kernel reaches {:.0f} % of it.",
      floor, bytes, share);
}

// Returns the number of products after which reordering pays off, compared with the best candidate in
// original order.
std::optional<std::string> pay_back(const Report& report, Basis basis, Place best) {
  if (best.in_order == 0 || basis == Basis::bytes) return std::nullopt;
  std::optional<double> given;
  for (std::size_t c = 0; c < report.formats.front().candidates.size(); ++c)
    if (const auto here = cost(report, {0, c}, basis); here && (!given || *here < *given)) given = here;
  const double seconds = report.orders[report.formats[best.in_order].order].seconds;
  if (!given) return std::nullopt;
  const double gain = (*given - *cost(report, best, basis)) * 1e-6;
  if (!(gain > 0)) return std::nullopt;
  const auto products = std::max<std::int64_t>(1, std::llround(std::ceil(std::min(seconds / gain, 1e15))));
  return fmt::format(
      "Ordering took {} and pays off after {}, compared with the best format in the original order.",
      human_seconds(seconds), products == 1 ? "one product" : grouped(products) + " products");
}

}  // namespace

void recommend(Report& report) {
  for (const Basis basis : {Basis::measured, Basis::predicted, Basis::bytes}) {
    const auto best = cheapest(report, basis);
    if (!best) continue;
    report.advice = Recommendation{best->in_order, best->candidate, basis, {}};
    report.formats[best->in_order].candidates[best->candidate].chosen = true;
    const Candidate& chosen = advised(report);
    const double amount = *cost(report, *best, basis);
    std::vector<std::string>& reasons = report.advice->reasons;
    reasons.push_back(order_reason(report));
    reasons.push_back(format_reason(report, basis, amount, best->in_order == 0 && chosen.format == "csr"));
    if (report.best_order != 0 && best->in_order == 0)
      reasons.push_back(fmt::format("In this format, {} does not improve on the original order.",
                                    report.orders[report.best_order].label));
    if (basis == Basis::measured && report.not_reached > 0)
      reasons.push_back(
          fmt::format("{} of the kernels were not measured within the time limit; increase --seconds.",
                      grouped(report.not_reached)));
    if (basis == Basis::measured && report.floor_us > 0) reasons.push_back(floor_reason(report, amount));
    if (const auto text = pay_back(report, basis, *best)) reasons.push_back(*text);
    if (basis == Basis::bytes)
      reasons.push_back(
          "Without a profile of this device, the recommendation uses bytes instead of times, which suits "
          "GPUs better than CPUs. Run 'sptile calibrate' to create a profile, or 'sptile report --measure' "
          "to measure this matrix.");
    return;
  }
}

const Candidate& advised(const Report& report) {
  return report.formats[report.advice->in_order].candidates[report.advice->candidate];
}

const OrderTried& advised_order(const Report& report) {
  return report.orders[report.formats[report.advice->in_order].order];
}

const FormatRow& advised_size(const Report& report) {
  return report.formats[report.advice->in_order].sizes[advised(report).matrix];
}

}  // namespace sptile::tools::report
