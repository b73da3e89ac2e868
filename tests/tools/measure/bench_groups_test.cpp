#include "tools/measure/bench_groups.hpp"

#include <doctest/doctest.h>

#include "runtime/kernels/kernels.hpp"
#include "tests/tools/bench_sample.hpp"

using namespace sptile;
using namespace sptile::tools;
using test::row;

namespace {
std::string conclusion(const Json& rows) { return verdicts_text(group_verdicts(rows)); }
}  // namespace

TEST_CASE("bench groups: as rows come each is marked that is the fastest so far, in the end one") {
  const Json rows = Json::array({row({.format = "csr", .us = 100}), row({.format = "bmat", .us = 50}),
                                 row({.format = "tall", .us = 80}), row({.format = "bmat", .us = 9, .n = 32}),
                                 row({.format = "bittcf", .us = 40})});
  BenchGroups groups;
  std::vector<bool> so_far;
  for (const Json& one : rows) so_far.push_back(groups.add(one).fastest);
  CHECK(so_far == std::vector<bool>{true, true, false, true, true});
  Json marked = rows;
  mark_rows(marked);
  CHECK(marked[0]["fastest"] == false);
  CHECK(marked[1]["fastest"] == false);
  CHECK(marked[3]["fastest"] == true);  // another N
  CHECK(marked[4]["fastest"] == true);
  CHECK(marked[4]["over_csr"] == 2.5);
  CHECK(marked[3]["over_csr"].is_null());
}

TEST_CASE(
    "bench groups: a plan would choose the row with the lowest prediction, of each order and precision") {
  const auto predicted = [](Json row, double us) {
    row["predicted_us"] = us;
    return row;
  };
  Json noisy = predicted(row({.format = "tall", .us = 50, .spread = 0.5}), 30);
  noisy["n"] = 8;
  const Json exact = predicted(row({.us = 90, .precision = "tf32"}), 95);
  Json rows =
      Json::array({predicted(row({.format = "csr", .us = 100}), 90),
                   predicted(row({.format = "bmat", .us = 50}), 95), row({.format = "tall", .us = 1}),
                   predicted(row({.format = "bmat", .reorder = "rcm", .us = 60}), 200), exact, noisy});
  mark_rows(rows);
  std::vector<bool> chosen;
  for (const Json& one : rows) chosen.push_back(one["auto"]);
  CHECK(chosen == std::vector<bool>{true, false, false, true, true, true});
  CHECK(rows[5]["noisy"] == true);
  for (const runtime::Kernel& kernel : runtime::kernels())  // its prediction may be that of another kernel
    if (kernel.by_name && !kernel.like.empty()) {
      Json by_name = Json::array({predicted(row({.us = 1, .kernel = std::string(kernel.name)}), 1)});
      mark_rows(by_name);
      CHECK(by_name[0]["auto"] == false);
    }
}

TEST_CASE(
    "bench groups: other operations, matrices, hosts and options are other groups; precisions and orders are "
    "not") {
  BenchGroups groups;
  groups.add(row({.us = 100}));
  for (Json other : {row({.us = 200, .matrix = "b.mtx"}), row({.us = 200, .host = "there"}),
                     row({.us = 200, .op = "sddmm"}), row({.us = 200, .n = 4})})
    CHECK(groups.add(other).fastest);
  Json cold = row({.us = 200});
  cold["flush_l2"] = true;
  CHECK(groups.add(cold).fastest);
  CHECK_FALSE(groups.add(row({.us = 200, .precision = "fp16", .dtype = "f16"})).fastest);
  CHECK_FALSE(groups.add(row({.reorder = "rcm", .us = 200})).fastest);
}

TEST_CASE(
    "bench groups: csr is its fastest kernel in the first order, of the same types, and not that of "
    "cuSPARSE") {
  Json rows = Json::array({row({.us = 10, .kernel = "cusparse.alg2"}), row({.us = 120}),
                           row({.us = 100, .kernel = "cpu.csr.b"}),
                           row({.us = 60, .precision = "fp16", .dtype = "f16"}),
                           row({.reorder = "rcm", .us = 50}), row({.format = "bmat", .us = 20}),
                           row({.format = "bmat", .us = 20, .precision = "fp16", .dtype = "f16"})});
  mark_rows(rows);
  CHECK(rows[0]["fastest"] == true);
  CHECK(rows[1]["over_csr"].get<double>() == doctest::Approx(100.0 / 120));
  CHECK(rows[2]["over_csr"] == 1);
  CHECK(rows[4]["over_csr"] == 2);
  CHECK(rows[5]["over_csr"] == 5);
  CHECK(rows[6]["over_csr"] == 3);
}

TEST_CASE("bench groups: a sentence says who is the fastest, and when its conversion is won back") {
  CHECK(conclusion(Json::array({row({.us = 100}), row({.format = "bmat", .us = 80, .convert_us = 190})})) ==
        "a.mtx, SpMM, N = 128: bmat fp32 is fastest at 80.0 us, 1.25x as fast as csr; converting pays off "
        "after 10 multiplications (costs 190.0 us, saves 20.0 us each)\n");
  CHECK(conclusion(Json::array({row({.us = 100}), row({.format = "bmat", .us = 80, .convert_us = 20})}))
            .find("pays off after 1 multiplication (") != std::string::npos);
  CHECK(conclusion(Json::array({row({.us = 100}), row({.format = "bmat", .us = 97, .convert_us = 20})})) ==
        "a.mtx, SpMM, N = 128: bmat fp32 is fastest at 97.0 us, 1.03x as fast as csr\n");
  CHECK(conclusion(Json::array({row({.us = 100}), row({.format = "bmat", .us = 180, .convert_us = 20})})) ==
        "a.mtx, SpMM, N = 128: csr fp32 is fastest at 100.0 us\n");
  CHECK(conclusion(Json::array({row({.format = "bmat", .us = 180, .n = 8, .op = "sddmm"})})) ==
        "a.mtx, SDDMM, N = 8: bmat fp32 is fastest at 180.0 us\n");
  CHECK(conclusion(
            Json::array({row({.us = 50, .kernel = "cusparse.alg2"}), row({.format = "bmat", .us = 100})})) ==
        "a.mtx, SpMM, N = 128: bmat fp32 is fastest at 100.0 us, 0.50x as fast as cuSPARSE\n");
  CHECK(conclusion(Json::array({row({.us = 50, .kernel = "cusparse.alg2"})})).empty());
  CHECK(conclusion(Json::array()).empty());
}

TEST_CASE("bench groups: reordering pays when it gains more than the times spread") {
  const auto with = [](double ordered_us, double spread) {
    return Json::array(
        {row({.us = 100}), row({.format = "bmat", .us = 90, .spread = spread, .convert_us = 30}),
         row({.format = "bmat", .reorder = "rcm", .us = ordered_us, .convert_us = 40, .reorder_us = 500})});
  };
  const Json pays = group_verdicts(with(60, 0.2));
  REQUIRE(pays.size() == 1);
  CHECK(pays[0]["reordering_pays"] == true);
  CHECK(pays[0]["reorder"] == "rcm");
  CHECK(pays[0]["pays_after"] == 18);  // 540 / 30
  CHECK(pays[0]["preparation_us"] == 540);
  CHECK(pays[0]["saved_us"] == 30);
  CHECK(verdicts_text(pays) ==
        "a.mtx, SpMM, N = 128: bmat fp32 with ordering rcm is fastest at 60.0 us, 1.67x as fast as csr; "
        "reordering pays off after 18 multiplications (costs 540.0 us, saves 30.0 us each)\n");
  const Json noise = group_verdicts(with(80, 0.2));
  CHECK(noise[0]["reordering_pays"] == false);
  CHECK(noise[0]["pays_after"].is_null());
  CHECK(verdicts_text(noise).ends_with("; the gain of reordering is within the noise\n"));
  CHECK(group_verdicts(with(80, 0.1))[0]["reordering_pays"] == true);
  const Json slower = group_verdicts(with(95, 0));
  CHECK(slower[0]["reordering_pays"] == false);
  CHECK(slower[0]["reorder"] == "identity");
  CHECK(verdicts_text(slower).ends_with("; reordering does not pay off (rcm: 95.0 us)\n"));
}

TEST_CASE("bench groups: without several orders nothing is said of reordering") {
  const Json one = group_verdicts(Json::array({row({.reorder = "rcm"})}));
  CHECK(one[0]["reordering_pays"].is_null());
  CHECK(one[0]["pays_after"].is_null());
}

TEST_CASE("bench groups: rows of five runs or more with a spread over a quarter are noisy") {
  CHECK(noise_text(Json::array({row({.spread = 0.25}), row({.spread = 0.1})})).empty());
  Json few = row({.spread = 0.9});
  few["repeat"] = 4;
  CHECK(noise_text(Json::array({few})).empty());
  CHECK(noise_text(Json::array({row({.spread = 0.3}), row({.format = "bmat", .spread = 0.6}), row({})})) ==
        "2 of 3 rows are noisy (spread over 25 %); maximum: cpu.bmat on a.mtx, N = 128, 60 %; measure them "
        "again on an idle machine");
}

TEST_CASE("bench groups: rows are ranked by their minimum") {
  Json quick = row({.format = "bmat", .us = 90}), steady = row({.us = 80});
  quick["min_us"] = 40;
  steady["min_us"] = 70;
  Json rows = Json::array({steady, quick});
  mark_rows(rows);
  CHECK(rows[0]["fastest"] == false);
  CHECK(rows[1]["fastest"] == true);
  CHECK(rows[1]["over_csr"] == 1.75);
  CHECK(conclusion(rows).find("bmat fp32 is fastest at 40.0 us, 1.75x as fast as csr") != std::string::npos);
}

TEST_CASE("bench groups: noisy rows are neither the fastest nor a baseline, and give no conclusion") {
  Json rows = Json::array({row({.us = 900, .spread = 0.9}), row({.format = "bmat", .us = 10, .spread = 0.9}),
                           row({.format = "tall", .us = 50})});
  mark_rows(rows);
  CHECK(rows[1]["noisy"] == true);
  CHECK(rows[1]["fastest"] == false);
  CHECK(rows[2]["fastest"] == true);
  CHECK(rows[2]["over_csr"].is_null());
  CHECK(conclusion(rows) == "a.mtx, SpMM, N = 128: tall fp32 is fastest at 50.0 us\n");
  rows.erase(2);
  CHECK(conclusion(rows).empty());
}

TEST_CASE("bench groups: noise is the largest spread, and never less than 5 percent") {
  const Json calm = row({.spread = 0.01}), wild = row({.spread = 0.4});
  CHECK(noise_of({&calm}) == 0.05);
  CHECK(noise_of({&calm, &wild}) == 0.4);
}
