// Command line of the property runner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sptile::test {

/// Patterns with * and ?; none match everything.
class Patterns {
 public:
  void add(std::string pattern) { patterns_.push_back(std::move(pattern)); }
  [[nodiscard]] bool matches(std::string_view name) const;

 private:
  std::vector<std::string> patterns_;
};

struct Options {
  std::string mode = "test";  ///< test, perf or support
  std::string backend = "cpu";
  Patterns ops, kernels, properties;
  std::string cases = "*";
  int shard = 0, shards = 1;
  bool list = false, csv = false, quick = false, help = false;
};

/// Throws std::invalid_argument with the error.
Options parse_options(int argc, char** argv);

extern const char* const kUsage;

}  // namespace sptile::test
