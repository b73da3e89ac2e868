// Prints C = A B for every stored format of a bundle that has a kernel for it. B has small integers: if A has
// them too, C is exact, and the output is the same on every machine.
//
//   product BUNDLE
#include <cstdio>
#include <vector>

#include "runtime/include/sptile.hpp"

namespace {

constexpr std::int64_t kN = 19;

void print_product(sptile::Matrix& a, const std::string& format) {
  const sptile::Plan plan = a.plan("spmm", {.n = kN, .format = format});
  std::vector<float> b(static_cast<std::size_t>(plan.cols() * kN));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i * 7 % 13) - 6;
  std::vector<float> c(static_cast<std::size_t>(plan.rows() * kN));
  plan.run(b, c);
  std::printf("%s\n", format.c_str());
  for (const float x : c) std::printf("%.0f\n", static_cast<double>(x));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  sptile::Matrix a(argv[1]);
  for (const std::string& format : a.formats())
    if (format != "libra_sddmm") print_product(a, format);
}
