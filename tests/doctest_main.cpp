#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "tests/skip.hpp"

namespace {
constexpr int kSkipped = 77;
int skips = 0;
}  // namespace

void sptile::skip(const std::string& missing) {
  ++skips;
  std::fprintf(stderr, "SKIPPED: %s\n", missing.c_str());
}

int main(int argc, char** argv) {
  const int failed = doctest::Context(argc, argv).run();
  return failed != 0 || skips == 0 ? failed : kSkipped;
}
