#include "tools/pipeline/format_choice.hpp"

#include <doctest/doctest.h>

#include "formats/layout/registry.hpp"
#include "tests/profile_file.hpp"

using namespace sptile;
using namespace sptile::tools;

TEST_CASE("all means every format once, with the parameters that its conversion chooses") {
  const auto all = parse_formats("all");
  REQUIRE(all.has_value());
  REQUIRE(all->size() == formats::layouts().size());
  for (std::size_t i = 0; i < all->size(); ++i) {
    CHECK((*all)[i].label == formats::layouts()[i]->name);
    CHECK_FALSE((*all)[i].parameter.has_value());
  }
}

TEST_CASE("tall takes a height, and converts to it") {
  const auto list = parse_formats("tall:64,csr,tall:16");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 3);
  formats::Csr a;  // a diagonal of 200
  a.rows = a.cols = 200;
  a.row_ptr = formats::Buffer<std::int64_t>(201);
  a.col_idx = formats::Buffer<std::int32_t>(200);
  for (std::int32_t r = 0; r <= 200; ++r) a.row_ptr[r] = r;
  for (std::int32_t r = 0; r < 200; ++r) a.col_idx[r] = r;
  const auto windows = [&](std::size_t choice) {
    const auto data = (*list)[choice].conversion()(a.view(), nullptr);
    REQUIRE(data.has_value());
    return data->arrays.front().view().size - 1;  // window_row
  };
  CHECK(windows(0) == 4);
  CHECK(windows(2) == 13);
}

TEST_CASE("rows are ordered for the windows that all formats have") {
  const auto rows = [](const char* list) { return tools::window_rows_of(*parse_formats(list)); };
  CHECK(rows("bittcf") == 8);
  CHECK(rows("csr,bmat") == 16);
  CHECK(rows("tall") == 64);
  CHECK(rows("tall:32,csr") == 32);
  CHECK(rows("bmat,tall") == 8);
  CHECK(rows("csr") == 8);
  CHECK(rows("libra_spmm:4") == rows("libra_spmm"));
}

TEST_CASE("libra_spmm takes a threshold, and converts with it") {
  const auto list = parse_formats("libra_spmm:1,libra_spmm:9");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 2);
  const std::vector<std::int64_t> row_ptr{0, 2, 3};
  const std::vector<std::int32_t> columns{0, 1, 0};
  const formats::CsrView a{2, 2, row_ptr, columns, {}};
  const auto tiles = [&](std::size_t choice) {
    const auto data = (*list)[choice].conversion()(a, nullptr);
    REQUIRE(data.has_value());
    return data->layout->tc_blocks(data->view());
  };
  CHECK(tiles(0) == 1);
  CHECK(tiles(1) == 0);
}

TEST_CASE("libra_sddmm takes a threshold up to the entries of a block, repeated ones once") {
  const auto list = parse_formats("libra_sddmm:2,libra_sddmm:129,libra_sddmm:2");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 2);
  const std::vector<std::int64_t> row_ptr{0, 2, 3};
  const std::vector<std::int32_t> columns{0, 1, 0};
  const formats::CsrView a{2, 2, row_ptr, columns, {}};
  for (const std::size_t i : {0U, 1U}) {
    const auto data = (*list)[i].conversion()(a, nullptr);
    REQUIRE(data.has_value());
    CHECK(data->layout->tc_blocks(data->view()) == (i == 0 ? 2 : 0));
  }
}

TEST_CASE("auto takes the threshold that is found, and says where") {
  std::vector<std::string> asked;
  const auto list =
      parse_formats("libra_spmm:auto,libra_sddmm:auto,libra_spmm:4", [&](std::string_view format) {
        asked.emplace_back(format);
        return FoundThreshold{4, "a test"};
      });
  REQUIRE(list.has_value());
  CHECK(asked == std::vector<std::string>{"libra_spmm", "libra_sddmm"});
  REQUIRE(list->size() == 2);  // libra_spmm:4 is there already
  CHECK((*list)[0].label == "libra_spmm:4");
  CHECK((*list)[0].parameter == 4);
  CHECK((*list)[0].why == "a test");
  CHECK((*list)[1].label == "libra_sddmm:4");
  CHECK((*list)[1].parameter == 4);
  const auto none = parse_formats("libra_spmm:auto", [](std::string_view) -> Result<FoundThreshold> {
    return fail(Errc::unsupported, "no profile");
  });
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == Errc::unsupported);
  CHECK(parse_formats("libra_spmm:auto").error().message ==
        "libra_spmm requires a threshold of 1 to 9, got 'auto'");
}

TEST_CASE("hc_window takes a selector by name or number, and calls it by its name") {
  const auto list = parse_formats("hc_window:tensor,hc_window:cuda,hc_window:537395713,hc_window:7");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 3);  // hc_window:cuda is there already
  CHECK((*list)[0].label == "hc_window:tensor");
  CHECK((*list)[1].label == "hc_window:cuda");
  CHECK((*list)[1].parameter == 537395713);
  CHECK((*list)[2].label == "hc_window:7");
  const std::vector<std::int64_t> row_ptr{0, 2, 3};
  const std::vector<std::int32_t> columns{0, 1, 0};
  const formats::CsrView a{2, 2, row_ptr, columns, {}};
  for (const std::size_t i : {0U, 1U}) {
    const auto data = (*list)[i].conversion()(a, nullptr);
    REQUIRE(data.has_value());
    CHECK(data->layout->tc_blocks(data->view()) == (i == 0 ? 1 : 0));
  }
  const auto automatic = parse_formats("hc_window:auto", [](std::string_view) {
    return FoundThreshold{7, "a test"};
  });
  REQUIRE(automatic.has_value());
  CHECK(automatic->front().label == "hc_window:7");
}

TEST_CASE("rs_tile takes settings, separated by commas like formats") {
  const auto list =
      parse_formats("csr,rs_tile:split=64,tau_nnz=3,rs_tile,rs_tile:tau_nnz=3,split=64,tall:16");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 4);  // both orders of the settings are the same format
  CHECK((*list)[1].label == "rs_tile:tau_nnz=3,split=64");
  CHECK((*list)[2].label == "rs_tile");
  CHECK_FALSE((*list)[2].parameter.has_value());
  CHECK((*list)[3].label == "tall:16");
  CHECK(parse_formats("rs_tile:rule=auto")->front().label == "rs_tile:rule=auto");
  // Rows 0 and 1 are short and have all their columns alone.
  const std::vector<std::int64_t> row_ptr{0, 2, 3};
  const std::vector<std::int32_t> columns{0, 1, 2};
  const formats::CsrView a{2, 3, row_ptr, columns, {}};
  const auto tiles = [&](const char* format) {
    const auto data = parse_formats(format)->front().conversion()(a, nullptr);
    REQUIRE(data.has_value());
    return data->layout->tc_blocks(data->view());
  };
  CHECK(tiles("rs_tile:rule=large_increment,tau_nnz=2,tau_inc=1") == 0);
  CHECK(tiles("rs_tile:rule=none,tau_nnz=2") == 1);
  CHECK(tiles("rs_tile:tau_nnz=0") == 1);
}

TEST_CASE("thresholds are found in the profile, for 16-bit values those of fp16") {
  const test::ProfileFile profile(
      "number cuda.libra_spmm.mma tf32 threshold_128 2\n"
      "number cuda.libra_spmm.mma fp16 threshold_128 3\n");
  for (const auto& [values, threshold] :
       {std::pair{DType::f32, 2}, {DType::f64, 2}, {DType::f16, 3}, {DType::bf16, 3}, {DType::none, 2}}) {
    const auto found = profile_threshold("libra_spmm", values);
    REQUIRE_MESSAGE(found.has_value(), found.error().text());
    CHECK(found->value == threshold);
    CHECK(found->why.starts_with("threshold_128, "));
    CHECK_FALSE(found->source.empty());
  }
  const auto none = profile_threshold("libra_sddmm", DType::f32);
  REQUIRE_FALSE(none.has_value());
  CHECK(none.error().code == Errc::unsupported);
  CHECK(none.error().message.find("sptile calibrate") != std::string::npos);
}

TEST_CASE("unknown formats and parameters are refused") {
  constexpr std::pair<const char*, const char*> kRefused[] = {
      {"tall:48", "tall requires a height of 16, 32, 64 or 128, got '48'"},
      {"tall:", "tall requires a height of 16, 32, 64 or 128, got ''"},
      {"tall:064", "tall requires a height of 16, 32, 64 or 128, got '064'"},
      {"csr,libra_spmm:0", "libra_spmm requires a threshold of 1 to 9, got '0'"},
      {"libra_spmm:10", "libra_spmm requires a threshold of 1 to 9, got '10'"},
      {"libra_sddmm:130", "libra_sddmm requires a threshold of 1 to 129, got '130'"},
      {"libra_sddmm:2x", "libra_sddmm requires a threshold of 1 to 129, got '2x'"},
      {"libra_sddmm:99999999999", "libra_sddmm requires a threshold of 1 to 129, got '99999999999'"},
      {"hc_window:auto", "hc_window requires a selector of fitted, paper, tensor, cuda or 0 to 2147483647"},
      {"hc_window:-1", "hc_window requires a selector of fitted, paper, tensor, cuda or 0 to 2147483647"},
      {"rs_tile:3",
       "rs_tile: '3' is not a setting; expected rule, tau_nnz, tau_inc or split, followed by '='"},
      {"rs_tile:", "rs_tile: '' is not a setting; expected rule, tau_nnz, tau_inc or split, followed by '='"},
      {"rs_tile:tau=3", "rs_tile: 'tau=3' is not a setting; expected rule, tau_nnz, tau_inc or split"},
      {"rs_tile:tau_nnz=15", "rs_tile: tau_nnz '15', expected auto or 0 to 14"},
      {"rs_tile:tau_inc=0", "rs_tile: tau_inc '0', expected auto or 1 to 15"},
      {"rs_tile:split=x", "rs_tile: split 'x', expected auto, none or 1 to 2097150"},
      {"rs_tile:rule=", "rs_tile: rule '', expected auto, none, small_increment or large_increment"},
      {"rs_tile:split=1,split=2", "rs_tile: split is set twice; expected it once"},
      {"csr,rule=none", "unknown format 'csr,rule=none'"},
      {"csr:64", "unknown format 'csr:64'"},
      {"csr,", "unknown format ''"},
      {"", "unknown format ''"}};
  for (const auto& refused : kRefused) {
    CAPTURE(refused.first);
    const auto list = parse_formats(refused.first);
    REQUIRE_FALSE(list.has_value());
    CHECK(list.error().code == Errc::usage);
    CHECK(list.error().message.starts_with(refused.second));
  }
}
