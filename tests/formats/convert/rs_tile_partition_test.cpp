#include "formats/convert/rs_tile_partition.hpp"

#include <doctest/doctest.h>

#include "../slow_formats.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

RowPartition partition(std::int64_t cols, const Rows& rows) {
  return partition_rows(make_csr(cols, rows, DType::none).view());
}

}  // namespace

TEST_CASE("rs_tile partition: tau_nnz is the largest up to 4 whose rows hold at most half of the entries") {
  const auto tau_of = [](const Rows& rows) {
    return estimate_tau_nnz(make_csr(100, rows, DType::none).view());
  };
  CHECK(tau_of({}) == 0);
  CHECK(tau_of({{}, {}}) == 0);
  CHECK(tau_of({{1}}) == 0);                                      // rows of one entry are all there is
  CHECK(tau_of({{1, 2, 3, 4, 5}}) == 0);                          // no short row
  CHECK(tau_of({{1}, {1, 2, 3, 4, 5}}) == 4);                     // 1 of 6
  CHECK(tau_of({{1, 2, 3, 4}, {1, 2, 3, 4, 5}}) == 4);            // 4 of 9
  CHECK(tau_of({{1, 2, 3, 4}, {5}, {1, 2, 3, 4, 5}}) == 4);       // 5 of 10: half is still allowed
  CHECK(tau_of({{1, 2, 3, 4}, {5}, {6}, {1, 2, 3, 4, 5}}) == 3);  // 6 of 11, without the 4 only 2
  CHECK(tau_of({{1, 2}, {5}, {6}, {1, 2, 3}}) == 1);              // 2 of 7, then 4 of 7
}

TEST_CASE("rs_tile partition: counts and choice are those of Algorithm 1 taken word for word") {
  int small = 0, large = 0, none = 0;
  for (const Sample& sample : sample_matrices()) {
    if (sample.rows.size() > 5000) continue;  // the obvious answer takes its time
    CAPTURE(sample.name);
    const RowPartition found = partition(sample.cols, sample.rows);
    REQUIRE(static_cast<std::size_t>(found.tau_nnz) == slow_tau_nnz(sample.rows));
    if (found.tau_nnz == 0) {
      CHECK(found.residual_rows.empty());
      continue;
    }
    for (const RuleOutcome& outcome : found.outcomes) {
      const bool keep_all = outcome.rule == IncrementRule::none;
      const SlowPartition expected(sample.rows, keep_all ? 0 : static_cast<std::size_t>(found.tau_nnz),
                                   static_cast<std::size_t>(outcome.tau_inc),
                                   outcome.rule == IncrementRule::small);
      CHECK(outcome.tc_blocks == expected.tc_blocks);
      CHECK(outcome.residual_entries == expected.residual_entries);
      CHECK(std::tuple(outcome.b_rows(), outcome.tc_blocks) >=
            std::tuple(found.outcome().b_rows(), found.outcome().tc_blocks));
    }
    const SlowPartition best = slow_best_partition(sample.rows, static_cast<std::size_t>(found.tau_nnz));
    CHECK(std::tuple(found.outcome().b_rows(), found.outcome().tc_blocks) == best.cost());
    CHECK(std::equal(found.windows.begin(), found.windows.end(), best.windows.begin(), best.windows.end()));
    CHECK(std::equal(found.residual_rows.begin(), found.residual_rows.end(), best.residual_rows.begin(),
                     best.residual_rows.end()));
    none += found.chosen == IncrementRule::none;
    small += found.chosen == IncrementRule::small;
    large += found.chosen == IncrementRule::large;
  }
  CHECK(none > 0);  // the samples make every rule win somewhere
  CHECK(small > 0);
  CHECK(large > 0);
}

TEST_CASE("rs_tile partition: a short row that shares nothing is left out when that saves a block") {
  // Seven equal rows after one that shares nothing: leaving it out saves a block.
  Rows rows(9, {0, 1, 2, 3, 4, 5, 6, 7});
  rows[0] = {50, 60};
  const RowPartition found = partition(100, rows);
  CHECK(found.chosen == IncrementRule::small);  // both rules take it; the first of equals wins
  CHECK(found.residual_rows == std::vector<std::int32_t>{0});
  CHECK(found.windows == std::vector<std::int32_t>{1});
  CHECK(found.outcome().tc_blocks == 1);
  CHECK(found.outcome().residual_entries == 2);
}

TEST_CASE("rs_tile partition: the parameters tell the rule, the thresholds and the counts of every rule") {
  Rows rows(9, {0, 1, 2, 3, 4, 5, 6, 7});
  rows[0] = {50, 60};
  const Parameters expected{{"window_rows", std::int64_t{8}},
                            {"rule", std::string("small_increment")},
                            {"tau_nnz", std::int64_t{4}},
                            {"tau_inc", std::int64_t{3}},
                            {"none_tc_blocks", std::int64_t{3}},
                            {"none_residual_entries", std::int64_t{0}},
                            {"small_increment_tau_inc", std::int64_t{3}},
                            {"small_increment_tc_blocks", std::int64_t{1}},
                            {"small_increment_residual_entries", std::int64_t{2}},
                            {"large_increment_tau_inc", std::int64_t{1}},
                            {"large_increment_tc_blocks", std::int64_t{1}},
                            {"large_increment_residual_entries", std::int64_t{2}}};
  CHECK(partition(100, rows).parameters() == expected);
}
