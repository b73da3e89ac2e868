#include "formats/convert/rs_tile_partition.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "tests/formats/slow/slow.hpp"

using namespace sptile;
using namespace sptile::formats;
using namespace sptile::tests;

namespace {

/// Algorithm 1 of RSH-SpMM, word for word; `small` is the rule of the pseudo-code, else that of the prose;
/// tau_nnz = 0 keeps every row in windows.
struct SlowPartition {
  std::vector<std::size_t> windows, residual_rows;
  std::int64_t tc_blocks = 0, residual_entries = 0;

  SlowPartition(const Rows& rows, std::size_t tau_nnz, std::size_t tau_inc, bool small) {
    for (std::size_t r = 0; r < rows.size();) {
      if (rows[r].empty()) {
        ++r;
        continue;
      }
      const std::size_t full = distinct_columns(rows, r, r + 8).size();
      const std::size_t delta = full - distinct_columns(rows, r + 1, r + 8).size();
      if (rows[r].size() <= tau_nnz && (small ? delta < tau_inc : delta >= tau_inc)) {
        residual_rows.push_back(r);
        residual_entries += static_cast<std::int64_t>(rows[r].size());
        ++r;
      } else {
        windows.push_back(r);
        tc_blocks += static_cast<std::int64_t>((full + 7) / 8);
        r += 8;
      }
    }
  }
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t> cost() const {
    return {8 * tc_blocks + residual_entries, tc_blocks};
  }
};

/// The largest tau up to 4 whose rows hold at most half of the entries; 0 when there are no such rows.
std::size_t slow_tau_nnz(const Rows& rows) {
  std::size_t nnz = 0, best = 0;
  for (const auto& row : rows) nnz += row.size();
  for (std::size_t tau = 1; tau <= 4; ++tau) {
    std::size_t in_short_rows = 0;
    for (const auto& row : rows) in_short_rows += row.size() <= tau ? row.size() : 0;
    if (2 * in_short_rows > nnz) return best;
    if (in_short_rows > 0 || tau > 1) best = tau;
    if (tau == 4 && in_short_rows == 0) best = 0;
  }
  return best;
}

/// The partition that fetches the fewest rows of B; the first of equals: none, pseudo-code, prose.
SlowPartition slow_best_partition(const Rows& rows, std::size_t tau_nnz) {
  SlowPartition best(rows, 0, 0, true);
  for (const bool small : {true, false})
    for (std::size_t tau_inc = 1; tau_inc <= tau_nnz + 1; ++tau_inc) {
      SlowPartition candidate(rows, tau_nnz, tau_inc, small);
      if (candidate.cost() < best.cost()) best = std::move(candidate);
    }
  return best;
}

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

TEST_CASE("rs_tile partition: rule and thresholds of a setting are those of Algorithm 1") {
  for (const Sample& sample : sample_matrices()) {
    if (sample.rows.size() > 100) continue;
    CAPTURE(sample.name);
    const Csr a = make_csr(sample.cols, sample.rows, DType::none);
    for (const int tau_nnz : {0, 3, kRsTileMaxTauNnz})
      for (const int tau_inc : {1, 2, 15})
        for (const IncrementRule rule : {IncrementRule::none, IncrementRule::small, IncrementRule::large}) {
          CAPTURE(tau_nnz);
          CAPTURE(tau_inc);
          const RowPartition found =
              partition_rows(a.view(), {.rule = rule, .tau_nnz = tau_nnz, .tau_inc = tau_inc, .split = {}});
          const bool keep_all = rule == IncrementRule::none;
          const SlowPartition expected(sample.rows, keep_all ? 0 : static_cast<std::size_t>(tau_nnz),
                                       static_cast<std::size_t>(tau_inc), rule == IncrementRule::small);
          CHECK(found.tau_nnz == std::min<std::int64_t>(tau_nnz, sample.cols));
          CHECK(std::ranges::equal(found.windows, expected.windows));
          CHECK(std::ranges::equal(found.residual_rows, expected.residual_rows));
          if (found.tau_nnz == 0) continue;  // no rule is tried
          CHECK(found.chosen == rule);
          CHECK(found.outcome().tau_inc == (keep_all ? 0 : tau_inc));
        }
  }
}

TEST_CASE("rs_tile partition: a higher tau_nnz removes more short rows from the windows (figure 14)") {
  // Each group has a row of 1 to 6 nonzeros in columns that no other row has, seven equal rows, and eight
  // empty rows.
  Rows rows;
  for (int group = 0; group < 6; ++group) {
    rows.emplace_back();
    for (int k = 0; k <= group; ++k) rows.back().push_back(10 * (group + 1) + k);
    rows.insert(rows.end(), 7, {0, 1, 2, 3, 4, 5, 6, 7});
    rows.insert(rows.end(), 8, {});
  }
  const Csr a = make_csr(100, rows, DType::none);
  for (int tau_nnz = 0; tau_nnz <= 6; ++tau_nnz) {
    CAPTURE(tau_nnz);
    const RowPartition found = partition_rows(
        a.view(), {.rule = IncrementRule::large, .tau_nnz = tau_nnz, .tau_inc = 1, .split = {}});
    CHECK(std::ssize(found.residual_rows) == tau_nnz);
    CHECK(std::ssize(found.windows) == 6);
    // A window with its short row has two tiles.
    if (tau_nnz > 0) CHECK(found.outcome().tc_blocks == 12 - tau_nnz);
  }
}
