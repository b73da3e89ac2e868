#include "tools/report/recommend.hpp"

#include <doctest/doctest.h>

#include "runtime/kernels/kernels.hpp"

using namespace sptile;
using namespace sptile::tools::report;

namespace {
runtime::Candidate candidate(std::size_t place, std::string_view format) {
  runtime::Candidate c;
  c.matrix = place;
  c.format = format;
  c.kernel = &runtime::kernels().front();
  return c;
}

// Two formats in two orders: the second order moves fewer bytes in both.
Report sample() {
  Report report;
  report.nnz = 1000;
  report.n = 8;
  report.orders.resize(2);
  report.orders[0].label = "identity";
  report.orders[0].tc_blocks = 100;
  report.orders[1].label = "rcm";
  report.orders[1].tc_blocks = 50;
  report.orders[1].seconds = 1;
  report.best_order = 1;
  report.formats.resize(2);
  for (std::size_t o = 0; o < 2; ++o) {
    report.formats[o].order = o;
    report.formats[o].sizes.resize(2);
    report.formats[o].sizes[0].name = "csr";
    report.formats[o].sizes[1].name = "bittcf";
    report.formats[o].candidates = {candidate(0, "csr"), candidate(1, "bittcf")};
  }
  report.formats[0].moved_bytes = {4000, 3000};
  report.formats[1].moved_bytes = {4000, 1000};
  return report;
}

std::string all_reasons(const Report& report) {
  std::string text;
  for (const std::string& reason : report.advice->reasons) text += reason + "\n";
  return text;
}
}  // namespace

TEST_CASE("without times the fewest bytes decide, and it is said") {
  Report report = sample();
  recommend(report);
  REQUIRE(report.advice.has_value());
  CHECK(report.advice->basis == Basis::bytes);
  CHECK(advised(report).format == "bittcf");
  CHECK(advised(report).chosen);
  CHECK(advised_order(report).label == "rcm");
  CHECK(advised_size(report).name == "bittcf");
  CHECK(all_reasons(report).find("4.00 times as much") != std::string::npos);
  CHECK(all_reasons(report).find("50 % fewer") != std::string::npos);
  CHECK(all_reasons(report).find("Without a profile of this device") != std::string::npos);
}

TEST_CASE("predictions win over bytes, measurements over predictions") {
  Report report = sample();
  report.formats[0].candidates[0].predicted_us = 10;
  report.formats[1].candidates[1].predicted_us = 20;
  recommend(report);
  CHECK(report.advice->basis == Basis::predicted);
  CHECK(advised(report).format == "csr");
  CHECK(advised_order(report).label == "identity");
  CHECK(all_reasons(report).find("rcm does not improve on the original order") != std::string::npos);

  report = sample();
  report.formats[0].candidates[0].measured_us = 3e6;
  report.formats[0].candidates[0].predicted_us = 1;
  report.formats[1].candidates[1].measured_us = 2.5e6;
  report.floor_us = 1e6;
  recommend(report);
  CHECK(report.advice->basis == Basis::measured);
  CHECK(advised(report).format == "bittcf");
  CHECK(all_reasons(report).find("pays off after 2 products") != std::string::npos);
  CHECK(all_reasons(report).find("40 % of it") != std::string::npos);
}

TEST_CASE("what cannot run is not recommended, and nothing is where nothing runs") {
  Report report = sample();
  report.formats[1].candidates[1].refused = "no kernel";
  recommend(report);
  CHECK(report.formats[report.advice->in_order].candidates[report.advice->candidate].format == "bittcf");
  CHECK(advised_order(report).label == "identity");
  report = sample();
  for (FormatsInOrder& formats : report.formats)
    for (runtime::Candidate& c : formats.candidates) c.refused = "no kernel";
  recommend(report);
  CHECK(!report.advice.has_value());
}

TEST_CASE("what the time did not suffice for is said, and numbers read well") {
  Report report = sample();
  report.not_reached = 7;
  for (FormatsInOrder& formats : report.formats)
    for (runtime::Candidate& c : formats.candidates) c.measured_us = 5000.0;
  report.formats[1].candidates[1].measured_us = 100.0;
  report.orders[1].seconds = 1e-6;
  recommend(report);
  const std::string reasons = all_reasons(report);
  CHECK(reasons.find("7 of the kernels were not measured") != std::string::npos);
  CHECK(reasons.find("50 times as much") != std::string::npos);
  CHECK(reasons.find("pays off after one product,") != std::string::npos);
}
