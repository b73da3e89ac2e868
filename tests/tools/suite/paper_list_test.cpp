#include "tools/suite/paper_list.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/temporary_folder.hpp"

using namespace sptile;
using namespace sptile::tools;

namespace {

constexpr const char* kHead = "name\tcollection\turl\tfigures\n";

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("a list has one matrix per line") {
  TemporaryFolder folder;
  write(folder / "rsh.tsv",
        std::string(kHead) + "SNAP/web\tSuiteSparse\thttps://x/web\tfig. 10\nDD\tTUDataset\t\t\n");
  const auto list = read_paper_list(folder / "rsh.tsv");
  REQUIRE(list.has_value());
  REQUIRE(list->size() == 2);
  CHECK((*list)[0].name == "SNAP/web");
  CHECK((*list)[0].figures == "fig. 10");
  CHECK((*list)[1].url.empty());
}

TEST_CASE("other files are refused with their line") {
  TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    write(folder / "a.tsv", text);
    return read_paper_list(folder / "a.tsv").error();
  };
  CHECK(error("matrix\turl\n").where.ends_with("a.tsv:1"));
  CHECK(error(std::string(kHead) + "a\tb\tc\td\na\tb\n").where.ends_with("a.tsv:3"));
  CHECK(error(std::string(kHead) + "\tb\tc\td\n").code == Errc::bad_input);
  CHECK(error(kHead).message == "lists no matrix");
  CHECK(read_paper_list(folder / "none.tsv").error().code == Errc::io);
}

TEST_CASE("listed matrices are found by the last part of their name and the suffix of a matrix file") {
  TemporaryFolder folder;
  for (const char* file : {"web.mtx.gz", "web-2.mtx", "DD.h5", "DD.pdf", "Cora.txt.md"})
    write(folder / file, "");
  const auto found = find_matrices({{"SNAP/web", "", "", ""}, {"DD", "", "", ""}, {"Cora", "", "", ""}},
                                   folder.path().string());
  REQUIRE(found.has_value());
  CHECK(found->paths == std::vector<std::string>{folder / "web.mtx.gz", folder / "DD.h5"});
  REQUIRE(found->missing.size() == 1);
  CHECK(found->missing.front().name == "Cora");
  CHECK(find_matrices({}, folder / "none").error().code == Errc::io);
}

TEST_CASE("the list of a suite is in the folder or in the folder papers next to it") {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "downloads");
  std::filesystem::create_directories(folder / "papers");
  CHECK(find_paper_list(folder / "downloads", "acc").error().code == Errc::usage);
  write(folder / "papers/acc.tsv", kHead);
  CHECK(
      std::filesystem::equivalent(*find_paper_list(folder / "downloads", "acc"), folder / "papers/acc.tsv"));
  write(folder / "downloads/acc.tsv", kHead);
  CHECK(*find_paper_list(folder / "downloads", "acc") == folder / "downloads/acc.tsv");
}
