// The table of matrix generators behind `sptile gen`.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "formats/core/csr.hpp"
#include "formats/core/error.hpp"
#include "formats/core/parameters.hpp"
#include "formats/core/progress.hpp"
#include "tools/gen/node_data.hpp"

namespace sptile::tools::gen {

/// One required option of a generator: `--name VALUE` within [minimum, maximum].
struct ArgumentSpec {
  std::string_view name, help;
  bool integer;
  double minimum, maximum;
};

/// One row of the table. A generator's own file defines `structure`.
struct Generator {
  std::string_view name;     ///< "rmat"
  std::string_view summary;  ///< one line for the help
  std::string_view example;  ///< arguments as typed, for the help and the tests
  bool symmetric;            ///< square, entry (i, j) comes with (j, i) of the same value
  std::span<const ArgumentSpec> arguments;

  /// Gives the pattern: columns sorted and unique, same for any number of threads. The arguments lie within
  /// their bounds; what only fails in combination (too large a product) is Errc::usage or Errc::unsupported.
  /// `progress` may be null.
  Result<formats::Csr> (*structure)(const Parameters& arguments, std::uint64_t seed, Progress* progress);
  /// Gives what its nodes know; null for kinds whose nodes know nothing. Errors as `structure`.
  Result<NodeData> (*nodes)(const Parameters& arguments, std::uint64_t seed) = nullptr;
};

std::span<const Generator> generators();

struct GenerateOptions {
  std::uint64_t seed = 1;
  bool pattern = false;  ///< no values; otherwise uniform in (-1, 1), never 0, exact in f32
  bool shuffle = false;  ///< relabel at random: rows and columns alike when symmetric, else independently
  Progress* progress = nullptr;
};

/// Makes the matrix: structure, values (a function of seed, row and column before any relabelling), labels.
Result<formats::Csr> generate(const Generator& generator, const Parameters& arguments,
                              const GenerateOptions& options);

/// Makes what the nodes of the same matrix know, in the order of its rows; the kind must have `nodes`
/// (asserted).
Result<NodeData> generate_nodes(const Generator& generator, const Parameters& arguments,
                                const GenerateOptions& options);

/// Finds an argument; it must be there (asserted).
std::int64_t integer_argument(const Parameters& arguments, std::string_view name);
double real_argument(const Parameters& arguments, std::string_view name);

}  // namespace sptile::tools::gen
