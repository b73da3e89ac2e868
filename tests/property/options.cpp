#include "tests/property/options.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace sptile::test {
namespace {

constexpr std::string_view kModes[] = {"test", "perf", "support"};
constexpr std::string_view kBackends[] = {"cpu", "emulated", "cuda"};

template <std::size_t kCount>
std::string one_of(const std::string_view (&names)[kCount], const std::string& value, std::string_view what) {
  if (std::find(std::begin(names), std::end(names), value) != std::end(names)) return value;
  throw std::invalid_argument("no " + std::string(what) + " " + value);
}

int number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw std::invalid_argument(std::string(text) + " is not a number");
  return value;
}

/// "1/4" is the first of four.
void set_shard(Options& options, const std::string& value) {
  const std::size_t slash = value.find('/');
  if (slash == std::string::npos) throw std::invalid_argument("--shard takes I/N, such as 1/4");
  options.shard = number(std::string_view(value).substr(0, slash)) - 1;
  options.shards = number(std::string_view(value).substr(slash + 1));
  if (options.shard < 0 || options.shard >= options.shards)
    throw std::invalid_argument("--shard " + value + ": I is 1 to N");
}

struct Flag {
  std::string_view name;
  void (*set)(Options&);
};
constexpr Flag kFlags[] = {{"--list", [](Options& o) { o.list = true; }},
                           {"--csv", [](Options& o) { o.csv = true; }},
                           {"--quick", [](Options& o) { o.quick = true; }},
                           {"--help", [](Options& o) { o.help = true; }}};

struct Value {
  std::string_view name;
  void (*set)(Options&, const std::string&);
};
constexpr Value kValues[] = {
    {"--backend", [](Options& o, const std::string& v) { o.backend = one_of(kBackends, v, "backend"); }},
    {"--op", [](Options& o, const std::string& v) { o.ops.add(v); }},
    {"--kernel", [](Options& o, const std::string& v) { o.kernels.add(v); }},
    {"--property", [](Options& o, const std::string& v) { o.properties.add(v); }},
    {"--case", [](Options& o, const std::string& v) { o.cases = v; }},
    {"--shard", set_shard}};

template <class Row, std::size_t kCount>
const Row* find_row(const Row (&rows)[kCount], std::string_view name) {
  for (const Row& row : rows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

const char* const kUsage =
    R"(usage: sptile_property [MODE] [OPTIONS]

modes:
  test     check each property of each kernel (default)
  perf     print the median time of a run as CSV
  support  print which kernel has which property

options:
  --backend cpu|emulated|cuda  where kernels run (cpu); sptile_property_emulated has emulated
  --op, --kernel, --property PATTERN  only these; * and ? match anything; may be repeated
  --case PATTERN  only cases whose name matches, as failures print it
  --shard I/N     the I-th of N parts of the kernels
  --quick         few cases per kernel, for compute-sanitizer
  --csv           support as CSV
  --list          print the names of what is selected
)";

bool Patterns::matches(std::string_view name) const {
  const std::string text(name);
  return patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& p) {
           return fnmatch(p.c_str(), text.c_str(), 0) == 0;
         });
}

Options parse_options(int argc, char** argv) {
  Options options;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == 0 && !words[i].starts_with("-")) {
      options.mode = one_of(kModes, words[i], "mode");
    } else if (const Flag* const flag = find_row(kFlags, words[i])) {
      flag->set(options);
    } else if (const Value* const value = find_row(kValues, words[i]); value != nullptr) {
      if (++i == words.size()) throw std::invalid_argument(words[i - 1] + " needs a value");
      value->set(options, words[i]);
    } else {
      throw std::invalid_argument("no option " + words[i]);
    }
  }
  return options;
}

}  // namespace sptile::test
