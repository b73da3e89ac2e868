// Folders that are no partition, or no longer one.
#include <algorithm>
#include <functional>

#include "tests/formats/sample_matrices.hpp"
#include "tests/tools/partition/written_partition.hpp"

using namespace sptile;
using namespace sptile::tests;
namespace fs = std::filesystem;

namespace {

// A partition of three parts, and one of the same sizes of another matrix.
class Partition {
 public:
  Partition() {
    const formats::Csr a = make_csr(30, random_rows(30, 30, 0.2, 5), DType::f32);
    formats::Csr b = formats::copy(a.view());
    b.values.as<float>()[0] = 77;
    const auto division = reorder::divide_by_part(random_parts(30, 3, 4), 3);
    write_parts(a.view(), division, path());
    write_parts(b.view(), division, other());
  }
  [[nodiscard]] std::string path() const { return folder_ / "parts"; }
  [[nodiscard]] std::string other() const { return folder_ / "other"; }
  [[nodiscard]] std::string part(int rank) const { return path() + "/" + tools::part_name(rank); }
  [[nodiscard]] std::string found() const {
    std::string text = complaints(path());
    for (std::size_t at; (at = text.find(path())) != std::string::npos;)
      text.replace(at, path().size(), "DIR");
    return text;
  }

 private:
  TemporaryFolder folder_;
};

void rewrite(const std::string& path, const std::string& from, const std::string& to) {
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  replace(path, std::as_bytes(std::span(text)));
}

}  // namespace

TEST_CASE("a part that is missing is named: an error of the system") {
  const Partition partition;
  fs::remove(partition.part(1));
  CHECK(partition.found() ==
        "5 DIR/part-0001.h5: part-0001.h5: cannot be opened: No such file or directory\n");
}

TEST_CASE("a part of another partition, or at another place, is named") {
  const Partition partition;
  replace(partition.part(2), bytes_of(partition.other() + "/part-0002.h5"));
  CHECK(partition.found().starts_with("3 DIR/part-0002.h5: part-0002.h5: is a part of "));
  replace(partition.part(2), bytes_of(partition.part(0)));
  CHECK(partition.found() ==
        "3 DIR/part-0002.h5: part-0002.h5: declares itself part 0 of 3, but is stored as 2 of 3; it does not "
        "belong to this partition\n");
  replace(partition.part(2), bytes_of(partition.path() + "/partition.json"));
  CHECK(partition.found().starts_with("3 DIR/part-0002.h5: part-0002.h5: "));
  const BundleSample bundle;
  fs::remove(partition.part(2));
  REQUIRE(bundle.write(partition.part(2)));
  CHECK(partition.found() ==
        "3 DIR/part-0002.h5: part-0002.h5: is a bundle, but not a part of a partition\n");
}

TEST_CASE("a damaged part is named: cut, or with a byte that changed") {
  const Partition partition;
  auto bytes = bytes_of(partition.part(1));
  replace(partition.part(1), std::span(bytes).first(bytes.size() - 4096));
  CHECK(partition.found().starts_with("3 DIR/part-0001.h5: part-0001.h5: truncated"));
  bytes[Image(bytes).entry("/halo/csr/values").offset] ^= std::byte{1};
  replace(partition.part(1), bytes);
  CHECK(partition.found().starts_with("3 DIR/part-0001.h5: part-0001.h5 checksum /halo/csr/values: "));
}

TEST_CASE("lists that are not sound are refused when a part is opened") {
  using Ids = std::span<std::int32_t>;
  using Offsets = std::span<std::int64_t>;
  struct Forgery {
    const char* array;
    std::function<void(const std::string&)> apply;
    const char* message;
  };
  const auto ids = [](const char* array, std::function<void(Ids)> change) {
    return [=](const std::string& file) { forge<std::int32_t>(file, array, change); };
  };
  const auto offsets = [](const char* array, std::function<void(Offsets)> change) {
    return [=](const std::string& file) { forge<std::int64_t>(file, array, change); };
  };
  const Forgery forgeries[] = {
      {"rank", offsets("/part/numbers", [](Offsets n) { n[1] = 3; }), "declares itself part 3 of 3"},
      {"negative rank", offsets("/part/numbers", [](Offsets n) { n[1] = -1; }),
       "declares itself part -1 of 3"},
      {"no parts", offsets("/part/numbers", [](Offsets n) { n[2] = 0; }), "declares itself part 1 of 0"},
      {"more parts", offsets("/part/numbers", [](Offsets n) { n[2] = 1 << 30; }), "has 4 elements, expected"},
      {"rows", offsets("/part/numbers", [](Offsets n) { n[3] = std::int64_t{1} << 40; }), "rows and"},
      {"fewer rows", offsets("/part/numbers", [](Offsets n) { n[3] = 2; }),
       "more rows or entries than the partitioned matrix"},
      {"fewer entries", offsets("/part/numbers", [](Offsets n) { n[4] = 2; }),
       "more rows or entries than the partitioned matrix"},
      {"symmetric", offsets("/part/numbers", [](Offsets n) { n[5] = 2; }), "symmetric 2"},
      {"version", offsets("/part/numbers", [](Offsets n) { n[0] = 2; }),
       "layout version 2; this sptile reads 1"},
      {"old id", ids("/part/old_ids", [](Ids i) { i[0] = 30; }), "/part/old_ids has 30; there are 30 rows"},
      {"halo id", ids("/part/halo_ids", [](Ids i) { i[0] = -1; }), "/part/halo_ids has -1"},
      {"row out of range", ids("/part/send_rows", [](Ids i) { i.back() = 1000; }),
       "/part/send_rows has 1000"},
      {"row twice", ids("/part/send_rows", [](Ids i) { i[1] = i[0]; }), "does not ascend for part 0"},
      {"offset falls", offsets("/part/send_offset", [](Offsets o) { o[1] = 1000; }),
       "/part/send_offset does not increase"},
      {"offset negative", offsets("/part/receive_offset", [](Offsets o) { o[0] = -1; }),
       "/part/receive_offset does"},
      {"offset past the end", offsets("/part/receive_offset", [](Offsets o) { o[3] += 1; }),
       "does not increase from 0"},
      {"for itself", offsets("/part/send_offset", [](Offsets o) { o[1] -= 1; }), "rows for the part itself"},
      {"shape", offsets("/halo/shape", [](Offsets s) { s[0] += 1; }), "halo: "},
  };
  for (const Forgery& forgery : forgeries) {
    CAPTURE(forgery.array);
    const Partition partition;
    forgery.apply(partition.part(1));
    const auto part = runtime::open_part(partition.part(1));
    REQUIRE_FALSE(part);
    CAPTURE(part.error().message);
    CHECK(part.error().message.find(forgery.message) != std::string::npos);
    CHECK(part.error().where == partition.part(1));
    CHECK_FALSE(partition.found().empty());
  }
}

TEST_CASE("a part whose halo has offsets that are none opens with rows in range, and is found") {
  for (const std::int64_t first : {std::int64_t{-5}, std::int64_t{1} << 60}) {
    const Partition partition;
    forge<std::int64_t>(partition.part(1), "/halo/csr/pointers_to_1",
                        [&](std::span<std::int64_t> offsets) { std::ranges::fill(offsets, first); });
    const auto part = runtime::open_part(partition.part(1));
    REQUIRE(part);
    CHECK(part->interior >= 0);
    CHECK(part->interior <= part->local->rows());
    CHECK_FALSE(partition.found().empty());
  }
}

TEST_CASE("lists that are sound, but not those of the others, are found") {
  const Partition partition;
  forge<std::int32_t>(partition.part(0), "/part/old_ids",
                      [](std::span<std::int32_t> ids) { std::swap(ids[0], ids[1]); });
  CHECK(partition.found().find("does not send the rows that part") != std::string::npos);
  const Partition second;
  forge<std::int32_t>(second.part(0), "/part/old_ids", [](std::span<std::int32_t> ids) { ids[0] = ids[1]; });
  CHECK(second.found().find("rows of the parts: ") != std::string::npos);
}

TEST_CASE("a value that changed with all its hashes is another matrix: a check fails") {
  const Partition partition;
  forge<float>(partition.part(0), "/halo/csr/values",
               [](std::span<float> values) { std::ranges::fill(values, 1.F); });
  forge<float>(partition.part(0), "/halo/transpose/formats/csr/values",
               [](std::span<float> values) { std::ranges::fill(values, 1.F); });
  CHECK(partition.found() == "7 DIR: matrix: the parts do not form the partitioned matrix\n");
}

TEST_CASE("partition.json that sptile did not write is refused, field by field") {
  struct Change {
    const char *from, *to, *message;
  };
  const Change changes[] = {
      {"{", "[", "is not a JSON object"},
      {"\"schema_version\": 1", "\"schema_version\": 2", "has schema version 2"},
      {"\"rows\": 30", "\"rows\": -30", "\"rows\" is not an integer"},
      {"\"rows\": 30", "\"rows\": 1e300", "\"rows\" is not an integer"},
      {"\"rows\": 30", "\"rows\": 18446744073709551615", "\"rows\" is not an integer"},
      {"\"rows\": 30", "\"rows\": 31", "partition.json declares 31"},
      {"\"id\": \"", "\"id\": \"../", "\"id\" is not 16 hexadecimal digits"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f16\"", "\"dtype\" is not f32, f64 or pattern"},
      {"\"dtype\": \"f32\"", "\"dtype\": \"f64\"", "has a different value type"},
      {"\"symmetric\": false", "\"symmetric\": 0", "\"symmetric\" is not true or false"},
      {"\"symmetric\": false", "\"symmetric\": true", "declares 30 rows and 198 entries"},
      {"\"parts\": [", "\"sections\": [", "\"parts\" is not a list of parts"},
      {"\"file\": \"part-0001.h5\"", "\"file\": \"/etc/passwd\"",
       "parts[1]: \"file\" is not the name of the part"},
      {"\"seed\"", "\"sead\"", "\"seed\" is not an integer"},
      {"\"content\": \"", "\"content\": \"0123456789abcdef\", \"gone\": \"",
       "the parts do not form the partitioned matrix"},
  };
  for (const Change& change : changes) {
    CAPTURE(change.to);
    const Partition partition;
    rewrite(partition.path() + "/partition.json", change.from, change.to);
    CAPTURE(partition.found());
    CHECK(partition.found().find(change.message) != std::string::npos);
  }
  const Partition partition;
  fs::remove(partition.path() + "/partition.json");
  CHECK(partition.found().starts_with(
      "5 DIR/partition.json: partition.json: cannot open; expected a partition directory"));
}
