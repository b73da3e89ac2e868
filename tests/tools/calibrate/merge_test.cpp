// Which numbers of a profile a calibration leaves.
#include "tools/calibrate/merge.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace sptile;
using namespace sptile::tools;

namespace {

const std::vector<runtime::ProfileNumber> kKnown = {
    {"a", "tf32", "launch", 1},     {"a", "tf32", "gather_mb", 2}, {"a", "fp16", "launch", 3},
    {"a", "tf32", "own", 4},        {"b", "any", "launch", 5},     {"c", "fp32", "launch", 6},
    {"c", "fp32", "threshold_8", 7}};

std::string text(const std::vector<runtime::ProfileNumber>& numbers) {
  std::string all;
  for (const auto& n : numbers)
    all += (all.empty() ? "" : " ") + n.kernel + "/" + n.precision + "/" + n.name + "=" +
           std::to_string(static_cast<int>(n.value));
  return all;
}

}  // namespace

TEST_CASE("merge: costs of a kernel and precision are replaced together, others stay") {
  const std::vector<runtime::ProfileNumber> measured = {
      {"a", "tf32", "launch", 10}, {"b", "fp16", "gather_mb", 11}, {"c", "fp32", "threshold_8", 12}};
  CHECK(text(merge_numbers(kKnown, measured, false)) ==
        "a/fp16/launch=3 a/tf32/own=4 c/fp32/launch=6 a/tf32/launch=10 b/fp16/gather_mb=11 "
        "c/fp32/threshold_8=12");
}

TEST_CASE("merge: a whole calibration leaves only what is no cost") {
  CHECK(text(merge_numbers(kKnown, {}, true)) == "a/tf32/own=4 c/fp32/threshold_8=7");
  CHECK(text(merge_numbers(kKnown, {}, false)) == text(kKnown));
  CHECK(merge_numbers({}, kKnown, true).size() == kKnown.size());
}
