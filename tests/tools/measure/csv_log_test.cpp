#include "tools/measure/csv_log.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace sptile;
using namespace sptile::tools;

namespace {

constexpr CsvColumn kColumns[] = {{"matrix", true, true}, {"n", false, true}, {"time", false, false}};

// A file name in a folder of its own that goes with it.
struct TemporaryFile {
  std::filesystem::path folder;
  std::string path;
  TemporaryFile() {
    std::string name = (std::filesystem::temp_directory_path() / "csv_log_XXXXXX").string();
    folder = ::mkdtemp(name.data());
    path = folder / "log.csv";
  }
  ~TemporaryFile() { std::filesystem::remove_all(folder); }

  void write(const std::string& text) const { std::ofstream(path, std::ios::binary) << text; }
  [[nodiscard]] std::string read() const {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }
};

Json row(const std::string& matrix, int n, double time) {
  return {{"matrix", matrix}, {"n", n}, {"time", time}};
}

}  // namespace

TEST_CASE("rows that were appended are found again, whatever characters their names have") {
  const TemporaryFile file;
  const std::string name = "odd, \"quoted\"\nname 12";
  {
    auto log = CsvLog::open(file.path, kColumns);
    REQUIRE(log.has_value());
    CHECK(log->find(row(name, 8, 0)) == nullptr);
    REQUIRE(log->append(row(name, 8, 1.5)).has_value());
    REQUIRE(log->append(row("12", 8, 2.5)).has_value());
  }
  auto log = CsvLog::open(file.path, kColumns);
  REQUIRE(log.has_value());
  REQUIRE(log->find(row(name, 8, 0)) != nullptr);
  CHECK((*log->find(row(name, 8, 0)))["time"] == 1.5);
  REQUIRE(log->find(row("12", 8, 0)) != nullptr);
  CHECK((*log->find(row("12", 8, 0)))["matrix"] == "12");
  CHECK(log->find(row(name, 9, 0)) == nullptr);
}

TEST_CASE("a last line cut off by a crash is dropped and written anew") {
  const TemporaryFile file;
  file.write("matrix,n,time\na,1,0.5\na,2,0.");
  auto log = CsvLog::open(file.path, kColumns);
  REQUIRE(log.has_value());
  CHECK(log->find(row("a", 1, 0)) != nullptr);
  CHECK(log->find(row("a", 2, 0)) == nullptr);
  REQUIRE(log->append(row("a", 2, 0.25)).has_value());
  CHECK(file.read() == "matrix,n,time\na,1,0.5\na,2,0.25\n");
}

TEST_CASE("files with other contents are refused with the line, and left alone") {
  const TemporaryFile file;
  for (const std::string bad :
       {"matrix,k,time\n", "matrix,n\n", "matrix,n,time\na,1\n", "matrix,n,time\na,x,1\n"}) {
    CAPTURE(bad);
    file.write(bad);
    const auto log = CsvLog::open(file.path, kColumns);
    REQUIRE_FALSE(log.has_value());
    CHECK(log.error().code == Errc::bad_input);
    CHECK(log.error().where.find(file.path + ":") == 0);
    CHECK(file.read() == bad);
  }
}

TEST_CASE("a file without a line end is another program's, unless it is the start of a head") {
  const TemporaryFile file;
  file.write("precious");
  CHECK(CsvLog::open(file.path, kColumns).error().code == Errc::bad_input);
  CHECK(file.read() == "precious");
  file.write("matrix,n");
  CHECK(CsvLog::open(file.path, kColumns).has_value());
  CHECK(file.read() == "matrix,n,time\n");
}

TEST_CASE("a head that lacks a column says which") {
  const TemporaryFile file;
  file.write("matrix,time\n");
  CHECK(CsvLog::open(file.path, kColumns).error().message.find("no column 'n'") != std::string::npos);
  file.write("n,matrix,time\n");
  CHECK(CsvLog::open(file.path, kColumns).error().message.find("order") != std::string::npos);
}

TEST_CASE("what is no regular file is refused, not waited for") {
  const TemporaryFile file;
  REQUIRE(::mkfifo(file.path.c_str(), 0600) == 0);
  CHECK(CsvLog::open(file.path, kColumns).error().code == Errc::usage);
}

TEST_CASE("the file that was read is the one that grows, whatever has its name by then") {
  const TemporaryFile file;
  file.write("matrix,n,time\na,2,0.25\n");
  auto log = CsvLog::open(file.path, kColumns);
  REQUIRE(log.has_value());
  std::filesystem::rename(file.path, file.folder / "kept.csv");
  file.write("another program's");
  REQUIRE(log->append(row("b", 1, 0.5)).has_value());
  CHECK(file.read() == "another program's");
  const auto kept = CsvLog::read(file.folder / "kept.csv", kColumns);
  REQUIRE(kept.has_value());
  CHECK(kept->size() == 2);
}

TEST_CASE("rows are listed in the order of the file, and of the same row the last counts") {
  const TemporaryFile file;
  file.write("matrix,n,time\nb,1,0.5\na,2,0.25\nb,1,0.75\n");
  const auto log = CsvLog::open(file.path, kColumns);
  REQUIRE(log.has_value());
  REQUIRE(log->rows().size() == 2);
  CHECK(log->rows()[0] == row("b", 1, 0.75));
  CHECK(log->rows()[1] == row("a", 2, 0.25));
}

TEST_CASE("without a path nothing is kept and nothing fails") {
  auto log = CsvLog::open("", kColumns);
  REQUIRE(log.has_value());
  CHECK(log->append(row("a", 1, 1)).has_value());
  CHECK(log->find(row("a", 1, 0)) == nullptr);
}
