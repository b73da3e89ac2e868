// Forges bundles: `forge_bundles BUNDLE FOLDER SEED COUNT` writes COUNT changed copies with right checksums
// to FOLDER and prints a line for each: file, "same" or "changed", the format to try, what was done.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "formats/layout/registry.hpp"
#include "tests/mutate_bundle.hpp"
#include "tests/seal_bundle.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

std::vector<std::byte> read(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(in), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

void write(const std::filesystem::path& path, Bytes bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

bool same_array(const BundleEntry& a, const BundleEntry& b) {
  return std::equal(std::begin(a.path), std::end(a.path), std::begin(b.path)) && a.dtype == b.dtype &&
         a.rank == b.rank && std::equal(std::begin(a.dims), std::end(a.dims), std::begin(b.dims)) &&
         a.offset == b.offset && a.bytes == b.bytes && a.hash == b.hash;
}

/// True when both tables list the same arrays in the same places with the same data, under the same flags.
bool same_contents(Bytes a, Bytes b) {
  BundleHeader before, after;
  std::memcpy(&before, a.data(), sizeof before);
  std::memcpy(&after, b.data(), sizeof after);
  return before.may_ignore == after.may_ignore && before.must_know == after.must_know &&
         std::ranges::is_permutation(table_of(a), table_of(b), same_array);
}

/// The format whose name is in the text, or any.
std::string format_of(const std::string& text, std::mt19937& random) {
  for (const FormatLayout* layout : layouts())
    if (text.find(std::string(layout->group) + "/") != text.npos && layout->name != "csr")
      return std::string(layout->name);
  return std::string(layouts()[random() % layouts().size()]->name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: forge_bundles BUNDLE FOLDER SEED COUNT\n";
    return 2;
  }
  const std::vector<std::byte> original = read(argv[1]);
  std::mt19937 random(static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10)));
  for (int i = 0; i < std::atoi(argv[4]); ++i) {
    std::vector<std::byte> bundle = original;
    const std::string done = forge(bundle, random);
    const std::string name = std::to_string(i) + ".h5";
    write(std::filesystem::path(argv[2]) / name, bundle);
    std::cout << name << '\t' << (same_contents(original, bundle) ? "same" : "changed") << '\t'
              << format_of(done, random) << '\t' << done << '\n';
  }
  return 0;
}
