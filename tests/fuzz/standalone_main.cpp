// Replays inputs through a fuzz target where libFuzzer is absent: every file given, and every file of every
// folder given.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

int replay(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::cout << file.string() << " (" << bytes.size() << " bytes)" << std::endl;  // flushed: names the crasher
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files += replay(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i])) files += replay(entry.path());
  }
  std::cout << files << " inputs replayed\n";
  return files > 0 ? 0 : 1;  // an empty corpus would test nothing
}
