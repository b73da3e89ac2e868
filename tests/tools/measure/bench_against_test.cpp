#include "tools/measure/bench_against.hpp"

#include <doctest/doctest.h>

#include "tests/tools/bench_sample.hpp"

using namespace sptile;
using namespace sptile::tools;
using test::row;

namespace {

/// csr, bmat and tall.
Json run(double csr, double bmat, double tall, double spread = 0) {
  return Json::array({row({.us = csr, .spread = spread}), row({.format = "bmat", .us = bmat}),
                      row({.format = "tall", .us = tall})});
}

std::vector<std::string> verdicts(const Json& comparison) {
  std::vector<std::string> list;
  for (const Json& one : comparison["rows"]) list.push_back(one["verdict"]);
  return list;
}

using Verdicts = std::vector<std::string>;

}  // namespace

TEST_CASE("bench against: csr is the yardstick, so a machine that is slower as a whole does not count") {
  const Json same = compare_runs(run(100, 50, 40), run(200, 100, 80));
  CHECK(verdicts(same) == Verdicts{"same", "same"});
  CHECK(same["rows"][0]["ratio"] == 1);
  CHECK(same["yardsticks"].size() == 1);
  CHECK(same["yardsticks"][0]["ratio"] == 2);
  const Json changed = compare_runs(run(100, 50, 40), run(200, 130, 70));
  CHECK(verdicts(changed) == Verdicts{"slower", "faster"});
  CHECK(changed["slower"] == 1);
  CHECK(changed["faster"] == 1);
  CHECK(changed["rows"][0]["ratio"].get<double>() == doctest::Approx(1.3));
  CHECK(changed["rows"][0]["yardstick"] == "cpu.csr");
}

TEST_CASE("bench against: differences within the spread of any row behind them do not count") {
  CHECK(verdicts(compare_runs(run(100, 50, 40), run(100, 52, 38.5))) == Verdicts{"same", "same"});
  CHECK(verdicts(compare_runs(run(100, 50, 40), run(100, 53, 38))) == Verdicts{"slower", "faster"});
  CHECK(verdicts(compare_runs(run(100, 50, 40, 0.2), run(100, 58, 34))) == Verdicts{"same", "same"});
  CHECK(verdicts(compare_runs(run(100, 50, 40, 0.4), run(100, 60, 30))) == Verdicts{"noisy", "noisy"});
  CHECK(verdicts(compare_runs(run(100, 50, 40), run(100, 90, 20, 0.4))) == Verdicts{"noisy", "noisy"});
}

TEST_CASE("bench against: cuSPARSE goes before csr, its fastest kernel of both runs before the others") {
  const auto with = [](double alg2, double alg3, double csr) {
    return Json::array({row({.us = alg2, .kernel = "cusparse.alg2"}),
                        row({.us = alg3, .kernel = "cusparse.alg3"}), row({.us = csr})});
  };
  const Json comparison = compare_runs(with(20, 10, 30), with(20, 20, 60));
  REQUIRE(comparison["yardsticks"].size() == 1);
  CHECK(comparison["yardsticks"][0]["kernel"] == "cusparse.alg3");
  CHECK(verdicts(comparison) == Verdicts{"faster", "same"});  // alg2, csr
}

TEST_CASE("bench against: without a yardstick, or with a csr of another kernel, times count as they are") {
  const Json old_rows =
      Json::array({row({.us = 100, .kernel = "cpu.csr.avx2"}), row({.format = "bmat", .us = 50})});
  const Json new_rows =
      Json::array({row({.us = 50, .kernel = "cpu.csr.avx512"}), row({.format = "bmat", .us = 100})});
  const Json comparison = compare_runs(old_rows, new_rows);
  CHECK(comparison["yardsticks"].empty());
  CHECK(verdicts(comparison) == Verdicts{"faster", "slower"});
  CHECK(comparison["rows"][1]["yardstick"].is_null());
}

TEST_CASE(
    "bench against: yardsticks are those of the same matrix, N and types; without one, the median of all") {
  const auto crowd = [](double fast, double slow) {
    Json rows = Json::array();
    for (const std::int64_t n : {8, 16, 32}) {
      rows.push_back(row({.us = n == 8 ? slow : fast, .n = n}));
      rows.push_back(row({.format = "bmat", .us = n == 8 ? slow : fast, .n = n}));
    }
    rows.push_back(row({.format = "bmat", .us = fast, .n = 64}));
    rows.push_back(row({.format = "bmat", .us = fast, .precision = "fp16", .dtype = "f16", .n = 8}));
    rows.push_back(row({.format = "bmat", .us = slow, .matrix = "b.mtx", .n = 8}));
    Json other = row({.format = "bmat", .us = fast, .n = 8});
    other["device"] = "cuda";
    rows.push_back(other);
    return rows;
  };
  const Json comparison = compare_runs(crowd(100, 100), crowd(200, 900));
  CHECK(comparison["yardsticks"].size() == 3);
  CHECK(verdicts(comparison) == Verdicts{"same", "same", "same", "same", "same", "slower", "slower"});
  CHECK(comparison["rows"][0]["yardstick"] == "cpu.csr");
  CHECK(comparison["rows"][3]["yardstick"] == "all");
  CHECK(comparison["rows"][5]["ratio"] == 4.5);
  CHECK(comparison["rows"][6]["yardstick"].is_null());  // of another device
  CHECK(comparison["rows"][6]["ratio"] == 2);
}

TEST_CASE(
    "bench against: rows of one run only are counted, other versions, hosts and repeats are the same thing") {
  Json old_rows = run(100, 50, 40);
  old_rows.push_back(row({.format = "bittcf"}));
  Json new_rows =
      Json::array({row({.us = 100, .host = "there"}), row({.format = "bmat", .us = 80, .host = "there"}),
                   row({.format = "rs_tile"})});
  new_rows[1]["version"] = "2";
  new_rows[1]["wanted_repeat"] = 50;
  const Json comparison = compare_runs(old_rows, new_rows);
  CHECK(verdicts(comparison) == Verdicts{"slower"});
  CHECK(comparison["only_old"] == 2);
  CHECK(comparison["only_new"] == 1);
  CHECK(comparison["hosts"]["old"] == Json::array({"here"}));
  CHECK(comparison["hosts"]["new"] == Json::array({"there", "here"}));
}

TEST_CASE("bench against: of several earlier rows of one thing the last counts") {
  Json old_rows = run(100, 50, 40);
  old_rows.push_back(row({.format = "bmat", .us = 100}));
  CHECK(verdicts(compare_runs(old_rows, run(100, 100, 40))) == Verdicts{"same", "same"});
}

TEST_CASE("bench against: the text names what is slower, then what is faster") {
  CHECK(against_text(compare_runs(run(100, 50, 40), run(200, 130, 70)), "old.csv") ==
        "against old.csv: 2 rows compared, 1 slower, 1 faster\n"
        "baselines (cpu.csr) took 2.00x as long as in the earlier run; ratios are relative to them\n"
        "        matrix  reorder   format  kernel      N  precision      old       new  ratio  noise\n"
        "slower  a.mtx   identity  bmat    cpu.bmat  128  fp32       50.0 us  130.0 us   1.30     5%\n"
        "faster  a.mtx   identity  tall    cpu.tall  128  fp32       40.0 us   70.0 us   0.88     5%\n");
  CHECK(against_text(compare_runs(Json::array(), Json::array({row({})})), "x") ==
        "against x: 0 rows compared, 0 slower, 0 faster; 1 only in this run\n");
}
