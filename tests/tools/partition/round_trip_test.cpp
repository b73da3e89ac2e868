// Parts that are written, checked and put together again are the matrix, and multiply like it.
#include <algorithm>
#include <cmath>

#include "formats/layout/csr.hpp"
#include "tests/formats/sample_matrices.hpp"
#include "tests/tools/partition/written_partition.hpp"

using namespace sptile;
using namespace sptile::tests;
using runtime::Part;

namespace {

// The matrix, with (j, i) where it has (i, j), and a value that both have.
formats::Csr symmetrised(const Rows& rows, DType dtype) {
  Rows both(rows.size());
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(rows.size()); ++r)
    for (const std::int32_t c : rows[static_cast<std::size_t>(r)]) {
      both[static_cast<std::size_t>(r)].push_back(c);
      both[static_cast<std::size_t>(c)].push_back(r);
    }
  for (auto& row : both) {
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  formats::Csr a = make_csr(std::ssize(rows), both, dtype);
  if (dtype == DType::f32)
    for (std::int64_t r = 0, i = 0; r < a.rows; ++r)
      for (; i < a.row_ptr[r + 1]; ++i)
        a.values.as<float>()[static_cast<std::size_t>(i)] = static_cast<float>(
            std::min<std::int64_t>(r, a.col_idx[i]) * 100 + std::max<std::int64_t>(r, a.col_idx[i]));
  return a;
}

tools::OpenPartition round_trip(const formats::Csr& a, const reorder::Division& division, bool symmetric,
                                PartOrder order) {
  const TemporaryFolder folder;
  const std::string out = folder / "parts";
  const auto description = write_parts(a.view(), division, out, order);
  CHECK(description.symmetric == symmetric);
  std::vector<tools::BundleCheck> checks;
  auto partition = tools::check_partition(out, nullptr, checks);
  CHECK(complaints(out).empty());
  REQUIRE(partition);
  CHECK(formats::identical(tools::whole_matrix(*partition).view(), a.view()));
  return std::move(*partition);
}

// Checks that rows of a part with and without entries in halo are in the order of the division, and returns
// whether those with entries are last.
bool keeps_order(const Part& part, const reorder::Division& division) {
  const formats::CsrView halo = part.halo->csr();
  std::int64_t before[] = {-1, -1};
  bool last = true;
  for (std::int64_t r = 0; r < halo.rows; ++r) {
    const bool is_boundary = halo.row_nnz(r) > 0;
    const std::int64_t place = division.place_of(part.old_ids[static_cast<std::size_t>(r)]);
    CHECK(place > before[is_boundary]);
    before[is_boundary] = place;
    last &= is_boundary == (r >= part.interior);
  }
  return last;
}

void check_round_trip(const formats::Csr& a, const reorder::Division& division, bool symmetric) {
  for (const Part& part : round_trip(a, division, symmetric, PartOrder::boundary_last).parts)
    CHECK(keeps_order(part, division));
}

// One step as a runtime does it: gather, exchange, C = local B, C += halo R in the rows from `interior` on;
// and of A^T with lists that run backwards.
class Step {
 public:
  explicit Step(const std::vector<Part>& parts) : parts_(parts) {}

  std::vector<double> multiply(const std::vector<double>& b) const {
    std::vector<double> c(b.size(), 0);
    for (const Part& part : parts_) {
      std::vector<double> received;
      for (const Part& from : parts_)
        for (const std::int32_t row : from.sent_to(part.numbers.rank))
          received.push_back(b[at(from.old_ids, row)]);
      add_product(part.local->csr(), take(b, part.old_ids), part.old_ids, c);
      formats::CsrView boundary = part.halo->csr();
      const auto interior = static_cast<std::size_t>(part.interior);
      boundary.rows -= part.interior;
      boundary.row_ptr = boundary.row_ptr.subspan(interior);
      add_product(boundary, received, part.old_ids.subspan(interior), c);
    }
    return c;
  }

  std::vector<double> multiply_transpose(const std::vector<double>& g) const {
    std::vector<double> c(g.size(), 0);
    for (const Part& part : parts_) {
      add_product(turned(*part.local), take(g, part.old_ids), part.old_ids, c);
      const std::vector<std::int32_t> halo_ids(part.halo_ids.begin(), part.halo_ids.end());
      add_product(turned(*part.halo), take(g, part.old_ids), halo_ids, c);
    }
    return c;
  }

 private:
  static std::size_t at(std::span<const std::int32_t> ids, std::int64_t i) {
    return static_cast<std::size_t>(ids[static_cast<std::size_t>(i)]);
  }
  static formats::CsrView turned(const runtime::Bundle& bundle) {
    return formats::as_csr(*bundle.format("csr", formats::Side::transpose));
  }
  static std::vector<double> take(const std::vector<double>& from, std::span<const std::int32_t> ids) {
    std::vector<double> result;
    for (const std::int32_t id : ids) result.push_back(from[static_cast<std::size_t>(id)]);
    return result;
  }
  static void add_product(const formats::CsrView& a, const std::vector<double>& b,
                          std::span<const std::int32_t> ids, std::vector<double>& c) {
    REQUIRE(std::ssize(b) == a.cols);
    for (std::size_t r = 0; r < ids.size(); ++r)
      for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
        c[at(ids, static_cast<std::int64_t>(r))] +=
            static_cast<double>(a.values.as<float>()[static_cast<std::size_t>(i)]) *
            b[static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(i)])];
  }

  const std::vector<Part>& parts_;
};

std::vector<double> product(const formats::CsrView& a, const std::vector<double>& b) {
  std::vector<double> c(static_cast<std::size_t>(a.rows), 0);
  for (std::size_t r = 0; r < c.size(); ++r)
    for (std::int64_t i = a.row_ptr[r]; i < a.row_ptr[r + 1]; ++i)
      c[r] += static_cast<double>(a.values.as<float>()[static_cast<std::size_t>(i)]) *
              b[static_cast<std::size_t>(a.col_idx[static_cast<std::size_t>(i)])];
  return c;
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
  return std::ranges::equal(a, b,
                            [](double x, double y) { return std::abs(x - y) <= 1e-9 * (std::abs(x) + 1); });
}

}  // namespace

TEST_CASE("parts put together are the matrix, for any rows, values and number of parts") {
  constexpr DType kTypes[] = {DType::none, DType::f32, DType::f64};
  constexpr double kDensities[] = {0.0, 0.1, 0.7};
  struct Sizes {
    std::int64_t rows;
    std::int32_t parts;
  };
  constexpr Sizes kSizes[] = {{0, 1},  {0, 3},  {1, 1},  {1, 2},  {2, 2},  {2, 8},  {9, 1},
                              {9, 3},  {9, 12}, {70, 1}, {70, 2}, {70, 3}, {70, 8}, {70, 8},
                              {70, 3}, {9, 2},  {9, 8},  {70, 8}, {9, 75}};
  for (unsigned i = 0; const Sizes& sizes : kSizes) {  // each type of values with each density
    const std::int64_t rows = sizes.rows;
    const std::int32_t parts = sizes.parts;
    CAPTURE(rows);
    CAPTURE(parts);
    const DType dtype = kTypes[i % 3];
    CAPTURE(name_of(dtype));
    const formats::Csr a = make_csr(rows, random_rows(rows, rows, kDensities[i / 3 % 3], i + 1), dtype);
    const bool symmetric = formats::identical(a.view(), formats::transpose(a.view()).view());
    check_round_trip(a, reorder::divide_by_part(random_parts(rows, parts, ++i), parts), symmetric);
    check_round_trip(a, reorder::divide_in_order(a.view(), {}, parts), symmetric);
  }
}

TEST_CASE("a symmetric matrix is known, and stored without transposes") {
  for (const DType dtype : {DType::none, DType::f32}) {
    const formats::Csr a = symmetrised(random_rows(50, 50, 0.05, 3), dtype);
    check_round_trip(a, reorder::divide_by_part(random_parts(50, 4, 8), 4), true);
  }
  formats::Csr a = symmetrised(random_rows(50, 50, 0.05, 3), DType::f32);
  std::int64_t row = 0;
  while (a.row_ptr[row + 1] == a.row_ptr[row] || a.col_idx[a.row_ptr[row]] == row) ++row;  // off the diagonal
  a.values.as<float>()[static_cast<std::size_t>(a.row_ptr[row])] += 1;
  check_round_trip(a, reorder::divide_by_part(random_parts(50, 4, 8), 4), false);
}

TEST_CASE("rows keep the order that a part was given") {
  const formats::Csr a = make_csr(40, random_rows(40, 40, 0.2, 5), DType::f32);
  reorder::Division division = reorder::divide_in_order(a.view(), {}, 3);
  for (std::int32_t p = 0; p < 3; ++p)
    reorder::reorder_part(
        division, p, random_permutation(division.rows_of(p), RandomStream(static_cast<std::uint64_t>(p))));
  check_round_trip(a, division, false);
}

TEST_CASE("a step with the parts multiplies as the matrix does, and backwards as its transpose") {
  struct Sizes {
    std::int32_t parts;
    PartOrder order;
  };
  for (const auto [parts, order] : {Sizes{1, PartOrder::boundary_last}, Sizes{3, PartOrder::boundary_last},
                                    Sizes{6, PartOrder::boundary_last}, Sizes{3, PartOrder::divided}}) {
    formats::Csr a = make_csr(60, random_rows(60, 60, 0.1, 11), DType::f32);
    RandomStream random(3);
    for (float& value : a.values.as<float>()) value = random.signed_unit();
    std::vector<double> b(60);
    for (double& x : b) x = random.signed_unit();
    const TemporaryFolder folder;
    write_parts(a.view(), reorder::divide_by_part(random_parts(60, parts, 2), parts), folder / "parts",
                order);
    std::vector<tools::BundleCheck> checks;
    const auto partition = tools::check_partition(folder / "parts", nullptr, checks);
    REQUIRE(partition);
    const Step step(partition->parts);
    CHECK(close(step.multiply(b), product(a.view(), b)));
    CHECK(close(step.multiply_transpose(b), product(formats::transpose(a.view()).view(), b)));
  }
}

TEST_CASE("counts are those of the matrix") {
  const formats::Csr a = make_csr(30, random_rows(30, 30, 0.2, 5), DType::none);
  const auto part = random_parts(30, 4, 9);
  const TemporaryFolder folder;
  const auto description = write_parts(a.view(), reorder::divide_by_part(part, 4), folder / "parts");
  std::int64_t sent = 0, received = 0, halo = 0;
  for (const tools::PartCounts& counts : description.parts) {
    sent += counts.sent;
    received += counts.received;
    halo += counts.halo_entries;
  }
  std::int64_t expected_halo = 0;
  for (std::int64_t r = 0, i = 0; r < 30; ++r)
    for (; i < a.row_ptr[r + 1]; ++i)
      expected_halo += part[static_cast<std::size_t>(r)] != part[static_cast<std::size_t>(a.col_idx[i])];
  CHECK(halo == expected_halo);
  CHECK(sent == received);
  const tools::Totals totals = tools::totals_of(description.parts);
  CHECK(totals.volume == sent);
  CHECK(totals.halo_share() == doctest::Approx(static_cast<double>(halo) / static_cast<double>(a.nnz())));
}

TEST_CASE("interior rows are those without entries in columns of other parts") {
  struct Case {
    const char* name;
    Rows rows;
    std::vector<std::int32_t> part;
    std::vector<std::vector<std::int32_t>> old_ids;
    std::vector<std::int64_t> interior;
  };
  const Case cases[] = {
      {"boundary rows in the middle",
       {{0, 4}, {1}, {}, {1, 5}, {4}, {0}},
       {0, 0, 0, 1, 1, 1},
       {{1, 2, 0}, {4, 3, 5}},
       {2, 1}},
      {"boundary rows are last already", {{0}, {2}, {2}, {0}}, {0, 0, 1, 1}, {{0, 1}, {2, 3}}, {1, 1}},
      {"no boundary row", {{1}, {0}, {3}, {2}}, {0, 0, 1, 1}, {{0, 1}, {2, 3}}, {2, 2}},
      {"only boundary rows", {{3}, {2}, {1}, {0}}, {0, 0, 1, 1}, {{0, 1}, {2, 3}}, {0, 0}},
      {"scattered rows, and a part without any",
       {{1}, {0}, {2}, {2, 3}},
       {2, 0, 2, 2},
       {{1}, {}, {2, 3, 0}},
       {0, 0, 2}}};
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const formats::Csr a = make_csr(std::ssize(one.rows), one.rows, DType::f32);
    const auto parts = static_cast<std::int32_t>(one.old_ids.size());
    const bool symmetric = formats::identical(a.view(), formats::transpose(a.view()).view());
    const auto partition =
        round_trip(a, reorder::divide_by_part(one.part, parts), symmetric, PartOrder::boundary_last);
    for (std::size_t p = 0; p < one.old_ids.size(); ++p) {
      CHECK(std::ranges::equal(partition.parts[p].old_ids, one.old_ids[p]));
      CHECK(partition.parts[p].interior == one.interior[p]);
    }
  }
}

TEST_CASE("parts whose boundary rows are anywhere, as earlier versions wrote them, are the matrix") {
  const formats::Csr a = make_csr(70, random_rows(70, 70, 0.03, 4), DType::f32);
  const auto division = reorder::divide_by_part(random_parts(70, 3, 2), 3);
  bool sorted = true;
  for (const Part& part : round_trip(a, division, false, PartOrder::divided).parts) {
    sorted &= keeps_order(part, division);
    const formats::CsrView halo = part.halo->csr();
    for (std::int64_t r = 0; r < part.interior; ++r) CHECK(halo.row_nnz(r) == 0);
    if (part.interior < halo.rows) CHECK(halo.row_nnz(part.interior) > 0);
  }
  CHECK_FALSE(sorted);
}

TEST_CASE("rows in the original order stay so if boundary rows are last") {
  const formats::Csr a = make_csr(4, {{0}, {2}, {2}, {0}}, DType::none);
  reorder::Division division = reorder::divide_by_part(std::vector<std::int32_t>{0, 0, 1, 1}, 2);
  auto survey = tools::survey_parts({a.view(), {}}, division, nullptr);
  REQUIRE(survey);
  tools::put_boundary_last(division, *survey);
  CHECK(division.in_order());
}

TEST_CASE("the same matrix and division give the same bytes") {
  const formats::Csr a = make_csr(40, random_rows(40, 40, 0.2, 5), DType::f32);
  const auto division = reorder::divide_by_part(random_parts(40, 3, 4), 3);
  const TemporaryFolder folder;
  write_parts(a.view(), division, folder / "one");
  write_parts(a.view(), division, folder / "two");
  for (const std::string file : {"part-0000.h5", "part-0001.h5", "part-0002.h5", "partition.json"})
    CHECK(bytes_of(folder / ("one/" + file)) == bytes_of(folder / ("two/" + file)));
}

TEST_CASE("a row whose columns are not sound is named when it comes by") {
  formats::Csr a = make_csr(9, random_rows(9, 9, 0.9, 5), DType::none);
  a.col_idx[a.row_ptr[4]] = 9;
  const auto survey = tools::survey_parts({a.view(), {}}, reorder::divide_in_order(a.view(), {}, 2), nullptr);
  REQUIRE_FALSE(survey);
  CHECK(survey.error().code == Errc::bad_input);
  CHECK(survey.error().message == "row 4: columns must ascend and be less than 9");
}
