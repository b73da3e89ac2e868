// Replays inputs through a fuzz target where libFuzzer is absent: every file given, and every file of every
// folder given, as they are and with single bytes changed.
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

constexpr int kChanges = 64;  // of each input, the same on every run

void run(const std::vector<char>& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

int replay(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  std::cerr << file.string() << " (" << bytes.size() << " bytes)" << std::endl;  // flushed: names the crasher
  run(bytes);
  std::minstd_rand random(1);
  for (int i = 0; i < kChanges && !bytes.empty(); ++i) {
    std::vector<char> changed = bytes;
    changed[random() % bytes.size()] = static_cast<char>(random());
    run(changed);
  }
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
  std::cerr << files << " inputs replayed\n";
  return files > 0 ? 0 : 1;  // an empty corpus would test nothing
}
