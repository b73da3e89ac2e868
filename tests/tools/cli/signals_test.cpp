// A mapped file that becomes shorter ends the command with a message and without temporaries.
#include "tools/cli/signals.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "formats/io/files/atomic_file.hpp"
#include "formats/io/files/atomic_folder.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/cli/mapped_file.hpp"

using namespace sptile;

namespace {

constexpr std::size_t kBytes = 1 << 16;

const volatile char* map(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  void* const memory = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<const volatile char*>(memory);
}

// Runs `work` in a child whose stderr goes to a file; gives what waitpid says.
template <class Work>
int in_child(const std::string& errors, const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int fd = ::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(fd, STDERR_FILENO);
    work();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("reading a mapped file that was cut names it, removes temporaries and exits with 5") {
  const TemporaryFolder folder;
  const std::string path = folder / "cut\033[2J.h5", errors = folder / "errors";
  std::ofstream(path, std::ios::binary) << std::string(kBytes, 'x');
  const int status = in_child(errors, [&] {
    tools::clean_up_on_signals(false);
    const auto file = formats::AtomicFile::create(folder / "out", false);
    const auto unfinished = formats::AtomicFolder::create(folder / "parts", false, [](auto) { return true; });
    const volatile char* const mapped = map(path);
    if (!file || !unfinished || mapped == nullptr || ::truncate(path.c_str(), 0) != 0) ::_exit(1);
    static_cast<void>(mapped[kBytes - 1]);
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  CHECK(contents(errors) == std::filesystem::canonical(folder.path()).string() +
                                "/cut\\x1b[2J.h5: was truncated while it was read; try again when its writer "
                                "has finished, or use --copy\n");
  const std::filesystem::directory_iterator left(folder.path());
  CHECK(std::distance(begin(left), end(left)) == 2);  // the file and the errors
}

TEST_CASE("SIGBUS without a mapped file kills as it would have") {
  const TemporaryFolder folder;
  const int status = in_child(folder / "errors", [&] {
    tools::clean_up_on_signals(false);
    ::raise(SIGBUS);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGBUS);
}

TEST_CASE("the file of an address is found, however many mappings there are") {
  const TemporaryFolder folder;
  const std::string path = folder / "a file";
  std::ofstream(path, std::ios::binary) << std::string(kBytes, 'x');
  const volatile char* const mapped = map(path);
  REQUIRE((mapped != nullptr));
  std::array<char, 4096> buffer;
  const auto file_of = [&](const void* address) { return tools::mapped_file(address, buffer); };
  CHECK(file_of(const_cast<const char*>(mapped + kBytes - 1)) == std::filesystem::canonical(path).string());
  CHECK(file_of(buffer.data()).empty());
  CHECK(file_of(nullptr).empty());
  std::array<char, 3> small;
  CHECK(tools::mapped_file(const_cast<const char*>(mapped), small).size() == 3);
  ::munmap(const_cast<char*>(mapped), kBytes);
}
