// Table of matrix generators for `sptile gen`.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/core/progress.hpp"
#include "tools/gen/node_data.hpp"

namespace sptile::tools::gen {

/// An option of a generator: `--name VALUE` within [minimum, maximum]. Required unless it has a default.
struct ArgumentSpec {
  std::string_view name, help;
  bool integer;
  double minimum, maximum;
  std::optional<double> default_value = {};
};

/// Relation of rows and columns. It decides the permutations of a shuffle and the symmetry of random values.
enum class Shape : std::uint8_t {
  rectangular,  ///< rows and columns are permuted independently
  square,       ///< rows and columns are the same vertices
  symmetric     ///< square, and entry (i, j) implies (j, i) with the same value
};

/// A generator. Its own file defines `structure`.
struct Generator {
  std::string_view name;     ///< for example "rmat"
  std::string_view summary;  ///< one line for the help
  std::string_view example;  ///< arguments as typed, for help and tests
  Shape shape;
  std::span<const ArgumentSpec> arguments;

  /// Returns the pattern with sorted unique columns, independent of the number of threads. The arguments are
  /// within their bounds; Errc::usage or Errc::unsupported for invalid combinations, such as a product that
  /// is too large. `progress` may be null.
  Result<formats::Csr> (*structure)(const Parameters& arguments, std::uint64_t seed, Progress* progress);
  /// Returns the node data; null for generators without any. Errors as for `structure`.
  Result<NodeData> (*nodes)(const Parameters& arguments, std::uint64_t seed) = nullptr;
  /// Returns the value of entry k, counted along the rows before a shuffle; null for random values. Not with
  /// Shape::symmetric.
  float (*value)(std::int64_t k) = nullptr;
};

std::span<const Generator> generators();

struct GenerateOptions {
  std::uint64_t seed = 1;
  bool pattern = false;  ///< no values; otherwise in (-1, 1), never 0, exact in f32
  bool shuffle = false;  ///< randomly permute rows and columns: equally unless Shape::rectangular
  Progress* progress = nullptr;
};

/// Generates the matrix: structure, values (a function of seed, row and column before permutation unless the
/// generator has `value`), permutation.
Result<formats::Csr> generate(const Generator& generator, const Parameters& arguments,
                              const GenerateOptions& options);

/// Generates the node data of the same matrix, in the order of its rows. Asserts that the generator has
/// `nodes`.
Result<NodeData> generate_nodes(const Generator& generator, const Parameters& arguments,
                                const GenerateOptions& options);

/// Return an argument by name; assert that it exists.
std::int64_t integer_argument(const Parameters& arguments, std::string_view name);
double real_argument(const Parameters& arguments, std::string_view name);

}  // namespace sptile::tools::gen
