#include "tools/calibrate/suite.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/gen/generator.hpp"

namespace sptile::tools {
namespace {

constexpr SuiteMatrix kSuite[] = {
    {"rmat", {13, 60e3}, true, true},
    {"rmat", {16, 500e3}, true, false},
    {"rmat", {18, 3e6}, true, false},
    {"rmat", {20, 8e6}, true, false},
    {"grid2d", {150}, false, true},
    {"grid2d", {400}, false, false},
    {"grid2d", {1000}, false, false},
    {"stencil27", {14, 3}, false, true},
    {"stencil27", {40, 3}, false, false},
    {"stencil27", {64, 1}, false, false},
    {"planted", {10e3, 200e3, 0.1}, false, true},
    {"planted", {200e3, 2e6, 0.2}, false, false},
    {"planted", {100e3, 5e6, 0.5}, false, false},
    {"planted", {1e6, 4e6, 0.1}, false, false},
    {"molecules", {1000}, false, true},
    {"molecules", {8000}, false, false},
    {"molecules", {60000}, false, false},
    {"random", {256, 2048, 100e3}, false, true},
    {"random", {1024, 1024, 300e3}, false, true},
    {"random", {4000, 4000, 2e6}, false, false},
    {"random", {20e3, 20e3, 1.6e6}, false, false},
    {"random", {100e3, 100e3, 3e6}, false, false},
    {"random", {500e3, 500e3, 4e6}, false, false},
    {"random", {512, 512, 26e3}, false, false},
    {"random", {512, 1152, 59e3}, false, false},
    {"random", {2048, 512, 100e3}, false, false},
    {"random", {2000, 1600, 480e3}, false, false},
    {"random", {30e3, 300, 180e3}, false, false},
    {"rmat", {10, 60e3}, true, false},
};

const gen::Generator& generator_of(const SuiteMatrix& matrix) {
  const auto all = gen::generators();
  return *std::find_if(all.begin(), all.end(),
                       [&](const gen::Generator& g) { return g.name == matrix.kind; });
}

}  // namespace

std::span<const SuiteMatrix> calibration_suite() { return kSuite; }

std::string name_of(const SuiteMatrix& matrix) {
  std::string name = matrix.kind;
  for (std::size_t i = 0; i < generator_of(matrix).arguments.size(); ++i)
    name += fmt::format(" {:.10g}", matrix.arguments[i]);
  return name;
}

Result<formats::Csr> make(const SuiteMatrix& matrix, std::uint64_t seed) {
  const gen::Generator& generator = generator_of(matrix);
  Parameters arguments;
  for (std::size_t i = 0; i < generator.arguments.size(); ++i) {
    const gen::ArgumentSpec& spec = generator.arguments[i];
    const double value = matrix.arguments[i];
    arguments.emplace_back(
        spec.name, spec.integer ? ParameterValue(static_cast<std::int64_t>(value)) : ParameterValue(value));
  }
  return gen::generate(generator, arguments, {.seed = seed, .pattern = false, .shuffle = matrix.shuffle});
}

}  // namespace sptile::tools
