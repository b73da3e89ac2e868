#include "runtime/cpu/units.hpp"

#include <doctest/doctest.h>

#include "../../formats/sample_matrices.hpp"
#include "formats/convert/converters.hpp"
#include "formats/layout/blocks.hpp"

using namespace sptile;
using namespace sptile::runtime;
using namespace sptile::tests;

namespace {

/// Units as the decoders number them.
std::int64_t units_of(const formats::FormatView& view, const WorkPlan& plan) {
  const formats::Blocks blocks = formats::blocks_of(view);
  switch (blocks.placement) {
    case formats::WindowPlacement::none:
      return view.rows;
    case formats::WindowPlacement::regular:
      return blocks.windows();
    case formats::WindowPlacement::varied:
      return (view.rows + 7) / 8;
    case formats::WindowPlacement::scattered:
      break;
  }
  return blocks.windows() + blocks.rows.size() + std::ssize(plan.empty_rows);
}

void check_plan(const formats::FormatView& view, std::int64_t n, int threads) {
  const WorkPlan plan = divide_work(view, n, threads);
  const formats::Blocks blocks = formats::blocks_of(view);
  std::int64_t unit = 0, column = 0;  // covered in front of the next chunk
  for (const Chunk& chunk : plan.chunks) {
    REQUIRE(chunk.first == unit);
    REQUIRE(chunk.first_col == column);
    REQUIRE(chunk.last > chunk.first);
    REQUIRE(chunk.last_col > chunk.first_col);
    if (blocks.placement == formats::WindowPlacement::scattered && chunk.first < blocks.windows())
      CHECK_FALSE(blocks.continues(chunk.first));
    column = chunk.last_col < n ? chunk.last_col : 0;
    unit = column == 0 ? chunk.last : chunk.first;
  }
  CHECK(column == 0);
  CHECK(unit == units_of(view, plan));
  CHECK(std::ssize(plan.chunks) <= max_chunks(threads));
}

}  // namespace

TEST_CASE("units: chunks cover every unit of every format and all columns once, in order") {
  for (const Sample& sample : sample_matrices()) {
    CAPTURE(sample.name);
    const formats::Csr a = make_csr(sample.cols, sample.rows);
    for (const formats::Converter& converter : formats::converters()) {
      CAPTURE(converter.format);
      const Result<formats::FormatData> data = converter.from_csr(a.view(), nullptr);
      REQUIRE(data.has_value());
      for (const std::int64_t n : {1, 100, 2000})
        for (const int threads : {1, 16}) check_plan(data->view(), n, threads);
    }
  }
}

TEST_CASE("units: rs_tile lists the rows that no window and no row of entries has") {
  const formats::Csr a = make_csr(2, {{}, {0}, {}, {}, {1}});
  const formats::FormatData data = *formats::find_converter("rs_tile")->from_csr(a.view(), nullptr);
  const formats::Blocks blocks = formats::blocks_of(data.view());
  const WorkPlan plan = divide_work(data.view(), 8, 1);
  std::vector<bool> seen(5);
  for (const std::int32_t first : blocks.first_row)
    for (std::int64_t r = first; r < std::min<std::int64_t>(first + 8, 5); ++r)
      seen[static_cast<std::size_t>(r)] = true;
  for (const std::int32_t row : blocks.rows.ids) seen[static_cast<std::size_t>(row)] = true;
  for (const std::int32_t row : plan.empty_rows) {
    CHECK_FALSE(seen[static_cast<std::size_t>(row)]);
    seen[static_cast<std::size_t>(row)] = true;
  }
  CHECK(seen == std::vector<bool>(5, true));
}
