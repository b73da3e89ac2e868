// Joining the parts of a partition, and the errors for stale and forged files.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "sptile.hpp"

#include "tests/formats/sample_matrices.hpp"
#include "tests/mutate_bundle.hpp"
#include "tests/tools/partition/written_partition.hpp"

using namespace sptile;
using namespace sptile::tests;

namespace {

std::string path_of_part(const std::string& folder, std::int64_t rank) {
  return folder + "/part-000" + std::to_string(rank) + ".h5";
}

formats::Csr sample(std::int64_t rows, DType dtype) {
  return make_csr(rows, random_rows(rows, static_cast<std::int32_t>(rows), 0.2, 5), dtype);
}

/// A partition of 30 rows in three parts; `large`: of 90 rows. Process 0 has `own`.
class Partition {
 public:
  explicit Partition(DType dtype = DType::f32) : a_(sample(30, dtype)) {
    write_parts(a_.view(), reorder::divide_by_part(random_parts(30, 3, 4), 3), path());
  }
  [[nodiscard]] const formats::Csr& matrix() const { return a_; }
  [[nodiscard]] std::string path() const { return folder_ / "parts"; }
  [[nodiscard]] std::string part(std::int64_t rank) const { return path_of_part(path(), rank); }
  [[nodiscard]] std::string large() const {
    const std::string out = folder_ / "large";
    write_parts(sample(90, DType::f32).view(), reorder::divide_by_part(random_parts(90, 3, 4), 3), out);
    return out;
  }
  /// Returns the error of joining the parts, with the folder as DIR.
  [[nodiscard]] std::string refusal() const {
    try {
      const Matrix whole = Matrix::whole(Part(part(0)), path());
      return "";
    } catch (const Exception& e) {
      REQUIRE(e.status() == SPTILE_STATUS_BAD_INPUT);
      std::string text = e.what();
      for (std::size_t at; (at = text.find(path())) != std::string::npos;)
        text.replace(at, path().size(), "DIR");
      return text;
    }
  }

 private:
  TemporaryFolder folder_;
  formats::Csr a_;
};

constexpr const char* kAgain = "; partition the matrix again";
const std::string kOldIds = "/part/old_ids";

std::int32_t first_id(const std::string& file) { return Part(file).old_ids().front(); }

}  // namespace

TEST_CASE("parts put together are the matrix, with and without values") {
  for (const DType dtype : {DType::f32, DType::f64, DType::none}) {
    const Partition partition(dtype);
    const Matrix whole = Matrix::whole(Part(partition.part(0)), partition.path());
    const CsrMatrix a = whole.csr();
    const formats::CsrView wanted = partition.matrix().view();
    CHECK(a.rows == wanted.rows);
    CHECK(std::ranges::equal(a.row_ptr, wanted.row_ptr));
    CHECK(std::ranges::equal(a.col_idx, wanted.col_idx));
    CHECK(static_cast<DType>(a.values.type) == dtype);
    CHECK((dtype == DType::none || std::memcmp(a.values.data, wanted.values.data,
                                               static_cast<std::size_t>(wanted.values.bytes())) == 0));
  }
}

TEST_CASE("a part of a larger matrix is refused before anything is written") {
  const Partition partition;
  replace(partition.part(1), bytes_of(path_of_part(partition.large(), 1)));
  CHECK(partition.refusal() ==
        std::string("DIR/part-0001.h5: belongs to a different partition from the part of process 0") +
            kAgain);
}

TEST_CASE("a part at another place is refused") {
  const Partition partition;
  replace(partition.part(2), bytes_of(partition.part(1)));
  CHECK(partition.refusal() ==
        std::string("DIR/part-0002.h5: declares itself part 1, but is stored as part 2 of the directory") +
            kAgain);
}

TEST_CASE("a part of a larger matrix that says it is of this one is refused") {
  const Partition partition;
  replace(partition.part(1), bytes_of(path_of_part(partition.large(), 1)));
  const Part own(partition.part(0));
  forge<std::uint64_t>(partition.part(1), "/part/id", [&](auto id) { id[0] = own.id(); });
  forge<std::int64_t>(partition.part(1), "/part/numbers", [&](auto numbers) {
    numbers[3] = own.rows();
    numbers[4] = own.entries();
  });
  CHECK(partition.refusal() != "");  // it has more rows or entries than it says the whole has
  forge<std::int64_t>(partition.part(0), "/part/numbers", [](auto n) { n[3] = 200, n[4] = 100000; });
  for (const int rank : {1, 2})
    forge<std::int64_t>(partition.part(rank), "/part/numbers", [](auto n) { n[3] = 200, n[4] = 100000; });
  CHECK(partition.refusal().starts_with("DIR: the parts have "));
}

TEST_CASE("a row with two owners is refused, and so is one without") {
  const Partition partition;
  const std::int32_t taken = first_id(partition.part(0));
  forge<std::int32_t>(partition.part(1), kOldIds, [&](auto ids) { ids[0] = taken; });
  CHECK(partition.refusal() == "DIR: row " + std::to_string(taken) + " belongs to two parts" + kAgain);
  std::int64_t rows = 0;
  for (const int rank : {0, 1, 2})
    forge<std::int64_t>(partition.part(rank), "/part/numbers", [&](auto n) { rows = ++n[3]; });
  CHECK(partition.refusal() == "DIR: the parts have 30 rows and " + std::to_string(partition.matrix().nnz()) +
                                   " entries, the matrix has 31 and " +
                                   std::to_string(partition.matrix().nnz()) + kAgain);
}

// With the address sanitizer: nothing is read or written that is not there.
TEST_CASE("forged parts are refused, or give a matrix of the right size") {
  std::mt19937 random(1);
  const Partition partition;
  const std::vector<std::byte> sound = bytes_of(partition.part(1));
  const Part own(partition.part(0));
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::byte> bytes = sound;
    const std::string change = forge(bytes, random);
    CAPTURE(change);
    replace(partition.part(1), bytes);
    try {
      const Matrix whole = Matrix::whole(own, partition.path());
      CHECK(whole.csr().rows == 30);
      CHECK(std::ssize(whole.csr().col_idx) == partition.matrix().nnz());
    } catch (const Exception&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
}
