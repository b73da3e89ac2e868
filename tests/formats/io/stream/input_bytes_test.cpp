#include "formats/io/stream/input_bytes.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::formats;

namespace {

std::string read_all(InputBytes& input) {
  std::string text(100, '\0');
  const auto count = input.read(text);
  REQUIRE(count);
  text.resize(static_cast<std::size_t>(*count));
  return text;
}

}  // namespace

TEST_CASE("readers of one file have their own positions, and do not follow its name") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  std::ofstream(path) << "first";
  auto one = InputBytes::open(path);
  REQUIRE(one);
  REQUIRE(one->is_file());
  CHECK(one->look(2) == "fi");
  std::filesystem::remove(path);
  std::ofstream(path) << "second";
  auto two = one->again();
  REQUIRE(two);
  CHECK(two->size() == 5);
  CHECK(read_all(*two) == "first");
  CHECK(two->position() == 5);
  CHECK(read_all(*one) == "first");
  CHECK(read_all(*one) == "");
  auto three = one->again();
  REQUIRE(three);
  CHECK(read_all(*three) == "first");
}

TEST_CASE("a descriptor is given away once") {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.txt") << "text";
  auto input = InputBytes::open(folder / "a.txt");
  REQUIRE(input);
  const int fd = input->release();
  REQUIRE(fd >= 0);
  CHECK(input->fd() == -1);
  char first = 0;
  CHECK(::pread(fd, &first, 1, 0) == 1);
  CHECK(first == 't');
  ::close(fd);
}

TEST_CASE("what can be read only once has no second reader") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const auto pipe = InputBytes::open(folder / "pipe");
  REQUIRE(pipe);
  const InputBytes memory = InputBytes::from_memory("text", "memory");
  for (const InputBytes* const input : {&*pipe, &memory}) {
    CHECK_FALSE(input->is_file());
    CHECK(input->again().error().code == Errc::usage);
  }
}
