#include "tools/pipeline/units.hpp"

#include <doctest/doctest.h>

using namespace sptile::tools;

TEST_CASE("bytes take the unit that keeps them short") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(1023) == "1023 B");
  CHECK(human_bytes(1536) == "1.5 KiB");
  CHECK(human_bytes(std::int64_t{5} << 30) == "5.0 GiB");
  CHECK(human_bytes(std::int64_t{5} << 50) == "5120.0 TiB");
}

TEST_CASE("seconds from nanoseconds to hours") {
  CHECK(human_seconds(2.5e-7) == "250 ns");
  CHECK(human_seconds(12.34e-6) == "12.3 us");
  CHECK(human_seconds(0.0041) == "4.1 ms");
  CHECK(human_seconds(1.25) == "1.2 s");
  CHECK(human_seconds(125) == "2 min 5 s");
  CHECK(human_seconds(12000) == "3 h 20 min");
}
