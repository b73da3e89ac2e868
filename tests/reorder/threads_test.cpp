// The orderings that divide their work among all threads, on matrices large enough for several tasks.
#include "tests/reorder/threads.hpp"

#include <doctest/doctest.h>

#include <string>

#include "formats/core/csr.hpp"
#include "reorder/registry.hpp"
#include "tests/reorder/pattern.hpp"

using namespace sptile;
using tests::Pattern;

namespace {

struct Sample {
  std::string name;
  Pattern a;
};

std::vector<Sample> samples() {
  constexpr std::int32_t n = 9000;
  Pattern star, path, tall, twins, empty;
  star.cols = path.cols = empty.cols = n;
  tall.cols = 1;
  twins.cols = 300;
  for (std::int32_t r = 0; r < n; ++r) {
    star.add_row(r == 0 ? std::set{1, 2, n - 1} : std::set{0, r});
    path.add_row({std::max(r - 1, 0), std::min(r + 1, n - 1)});
    tall.add_row({0});
    twins.add_row({r % 3, 100 + r / 512, 299});
    empty.add_row(r % 3 == 0 ? std::set{r, r / 2, n - 1} : std::set<std::int32_t>{});
  }
  std::vector<Sample> result;
  result.push_back({"star", star});
  result.push_back({"path", path});
  result.push_back({"one column", tall});
  result.push_back({"duplicate rows", twins});
  result.push_back({"empty rows", empty});
  result.push_back({"rectangular with hubs", tests::random_pattern(n, 3000, 20, 4)});
  result.push_back({"skewed", tests::random_pattern(n, n, 12, 5)});
  result.push_back({"disconnected", tests::planted_groups(1100, 8, 5, 6)});
  return result;
}

std::vector<std::int32_t> order_with(int threads, const Pattern& a, std::string_view method,
                                     std::span<const reorder::Setting> settings) {
  return tests::with_threads(threads, [&] {
    const auto order = reorder::find_reorderer(method)->run(a.view(), {.settings = settings});
    REQUIRE(order.has_value());
    return *order;
  });
}

}  // namespace

TEST_CASE("rabbit, affinity, loa and pack give the same bits for 1, 2, 3 and 8 threads") {
  const auto* const fast = reorder::find_preset(*reorder::find_reorderer("pack"), "fast");
  const reorder::Setting entire_list[] = {{"window", 0}};
  const struct {
    std::string_view name;
    std::span<const reorder::Setting> settings;
  } methods[] = {
      {"rabbit", {}}, {"affinity", {}}, {"loa", {}}, {"loa", entire_list}, {"pack", fast->settings}};
  for (const Sample& sample : samples()) {
    CAPTURE(sample.name);
    for (const auto& method : methods) {
      CAPTURE(method.name);
      const auto order = order_with(1, sample.a, method.name, method.settings);
      CHECK(formats::check_permutation(order, sample.a.rows).has_value());
      for (const int threads : {2, 3, 8})
        CHECK(order_with(threads, sample.a, method.name, method.settings) == order);
    }
  }
}
