#include "formats/core/sizes.hpp"

#include <doctest/doctest.h>

using namespace sptile::formats;

TEST_CASE("sizes: a 17 x 5 matrix with 10 f32 entries takes what the layouts say") {
  const FormatSize coo = coo_size(17, 5, 10, 4), tcf = tcf_size(17, 5, 10, 4), csr = csr32_size(17, 5, 10, 4);
  CHECK(coo.index_bytes == 80);   // two 32-bit ids an entry
  CHECK(tcf.index_bytes == 200);  // 2 windows, 17 + 1 row pointers, three ids an entry
  CHECK(csr.index_bytes == 112);  // 17 + 1 row pointers, one id per entry
  for (const FormatSize& size : {coo, tcf, csr}) CHECK(size.value_bytes == 40);
}

TEST_CASE("sizes: a pattern has no value bytes, and counts go past 32 bits") {
  CHECK(coo_size(1, 1, 1, 0).value_bytes == 0);
  CHECK(coo_size(1, 1, std::int64_t{3} << 32, 8).value_bytes == std::int64_t{24} << 32);
}
