#include "tools/pipeline/order.hpp"

#include <doctest/doctest.h>

using namespace sptile;
using tools::OrderRequest;
using tools::resolve_order;
using tools::resolve_orders;

namespace {

std::string complaint(const OrderRequest& request) {
  const auto ordering = resolve_order(request);
  REQUIRE_FALSE(ordering);
  CHECK(ordering.error().code == Errc::usage);
  return ordering.error().message;
}

std::vector<std::string> labels(const OrderRequest& request) {
  const auto orderings = resolve_orders(request);
  REQUIRE(orderings);
  std::vector<std::string> result;
  for (const tools::Ordering& ordering : *orderings) result.push_back(ordering.label());
  return result;
}

}  // namespace

TEST_CASE("an ordering is named with what was set") {
  CHECK(resolve_order({"degree", "", {}, 8})->label() == "degree");
  CHECK(resolve_order({"metis", "", {"part-rows=64"}, 8})->label() == "metis(part-rows=64)");
  CHECK(resolve_order({"metis", "", {"part-rows=64", "part-rows=9"}, 8})->label() == "metis(part-rows=9)");
}

TEST_CASE("a preset may stand behind the name of its ordering") {
  const auto ordering = resolve_order({"pack:fast", "", {}, 8});
  REQUIRE(ordering);
  CHECK(ordering->label() == "pack:fast");
  CHECK(ordering->typed == resolve_order({"pack", "fast", {}, 8})->typed);
  CHECK(resolve_order({"pack:fast", "fast", {}, 8})->label() == "pack:fast");
  CHECK(complaint({"pack:fast", "thorough", {}, 8}) ==
        "pack:fast and --preset thorough name two presets; expected one");
  CHECK(complaint({"pack:", "", {}, 8}) == "pack: expected a preset after the colon");
  CHECK(complaint({"degree:fast", "", {}, 8}) == "degree has no presets");
}

TEST_CASE("what a method does not take is refused by name") {
  CHECK(complaint({"degre", "", {}, 8}).starts_with("unknown reorderer 'degre'; did you mean 'degree'?"));
  CHECK(complaint({"degree", "fast", {}, 8}) == "degree has no presets");
  CHECK(complaint({"metis", "", {"part=4"}, 8}) == "metis has no parameter part; it has: part-rows");
  CHECK(complaint({"metis", "", {"part-rows"}, 8}) == "--set part-rows: expected name=value");
  CHECK(complaint({"metis", "", {"part-rows=x"}, 8}) == "--set part-rows=x: 'x' is not a number");
  CHECK(complaint({"metis", "", {"part-rows="}, 8}) == "--set part-rows=: '' is not a number");
  CHECK(complaint({"metis", "", {"part-rows=64x"}, 8}) == "--set part-rows=64x: '64x' is not a number");
  CHECK(complaint({"metis", "", {"part-rows=nan"}, 8})
            .starts_with("metis: part-rows requires an integer from 8"));
  CHECK(complaint({"metis", "", {"part-rows=8.5"}, 8})
            .starts_with("metis: part-rows requires an integer from 8"));
}

TEST_CASE("a list of orderings shares presets and settings among those that have them") {
  CHECK(labels({"identity,metis", "", {"part-rows=64"}, 8}) ==
        std::vector<std::string>{"identity", "metis(part-rows=64)"});
  CHECK(labels({"all", "", {}, 8}).size() == reorder::reorderers().size());
  for (const OrderRequest& wrong : {OrderRequest{"identity,degree", "", {"part-rows=64"}, 8},
                                    {"identity,degree", "fast", {}, 8},
                                    {"identity,degree:fast", "", {}, 8},
                                    {"identity,", "", {}, 8}}) {
    REQUIRE_FALSE(resolve_orders(wrong));
    CHECK(resolve_orders(wrong).error().code == Errc::usage);
  }
}

TEST_CASE("presets of the table are found, and only those") {
  for (const reorder::Reorderer& method : reorder::reorderers())
    for (const reorder::Preset& preset : method.presets) {
      const std::string name = std::string(method.name) + ":" + std::string(preset.name);
      CHECK(labels({name, "", {}, 8}) == std::vector<std::string>{name});
      CHECK(check_settings(method, preset.settings).has_value());
      CHECK_FALSE(resolve_order({std::string(method.name), "nonsense", {}, 8}));
    }
}

TEST_CASE("a bundle records every parameter, given or not") {
  const Parameters facts = tools::order_attributes(*resolve_order({"metis", "", {}, 16}));
  CHECK(facts == Parameters{{"ordering", std::string("metis")},
                            {"ordering_window_rows", std::int64_t{16}},
                            {"ordering_parameters", std::string("part-rows=256")}});
}

TEST_CASE("what auto chose comes with the counts; other methods choose nothing") {
  const std::vector<std::int64_t> row_ptr = {0, 1, 2};
  const std::vector<std::int32_t> col_idx = {0, 1};
  const formats::CsrView a = {2, 2, row_ptr, col_idx, {}};
  tools::Work work;
  tools::OrderChoice choice;
  REQUIRE(tools::compute_order(work, *tools::resolve_order({"auto", {}, {}}), a, &choice).has_value());
  CHECK(choice.chosen == "the original order");
  CHECK(choice.why.starts_with("1 blocks of 8 rows and 8 columns; degree order 1, "));
  REQUIRE(tools::compute_order(work, *tools::resolve_order({"rcm", {}, {}}), a, &choice).has_value());
  CHECK(choice.chosen.empty());
  CHECK(choice.why.empty());
}
