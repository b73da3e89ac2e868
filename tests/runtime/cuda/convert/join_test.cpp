// Batches of matrices in device memory, joined by the steps of devices that run on the host.
#include "runtime/cuda/convert/join.hpp"

#include <doctest/doctest.h>

#include <functional>

#include "formats/layout/csr.hpp"
#include "tests/runtime/cuda/convert/counting_run.hpp"
#include "tests/runtime/cuda/convert/entry_cases.hpp"
#include "tests/runtime/joined_matrix.hpp"

using namespace sptile;
using namespace sptile::test;
using runtime::Arrangement;
using runtime::cuda::DeviceEntries;
using runtime::cuda::Disorder;
using runtime::cuda::OwnedCsr;

namespace {

constexpr Arrangement kArrangements[] = {Arrangement::block_diagonal, Arrangement::stacked};

formats::CsrView view_of(const runtime::cuda::DeviceCsr& a) {
  return {a.rows, a.cols, std::span(a.row_ptr, static_cast<std::size_t>(a.rows + 1)),
          std::span(a.col_idx, static_cast<std::size_t>(a.nnz)),
          a.value_dtype == DType::none ? ArrayView() : ArrayView(a.value_dtype, a.values, a.nnz)};
}

/// Matrices as a device has them; every form of CSR in turn.
class Batch {
 public:
  explicit Batch(std::vector<Entries> parts, std::size_t form = 0) : parts_(std::move(parts)) {
    for (const Entries& part : parts_) arrays_.emplace_back(part, kEntryForms[form++ % 4]);
    for (const EntryArrays& one : arrays_) views.push_back(one.view);
  }

 private:
  std::vector<Entries> parts_;
  std::vector<EntryArrays> arrays_;

 public:
  std::vector<DeviceEntries> views;
};

std::vector<Entries> entries_of_all(const std::vector<formats::Csr>& parts) {
  std::vector<Entries> all;
  for (const formats::Csr& part : parts) all.push_back(entries_of(part));
  return all;
}

Error refusal(const std::vector<DeviceEntries>& parts, Arrangement arrangement,
              Disorder disorder = Disorder::refuse) {
  HostRun run;
  const auto joined = join_on(run, parts, arrangement, {.disorder = disorder});
  REQUIRE(!joined);
  return joined.error();
}

/// Five matrices of 4 x 6, with entries enough to be broken.
std::vector<formats::Csr> five(Random& random) {
  std::vector<formats::Csr> parts;
  for (int i = 0; i < 5; ++i) parts.push_back(random_matrix(4, 6, 0.8, DType::f32, random));
  return parts;
}

}  // namespace

TEST_CASE("device batches: matrices of every shape, type and form become one") {
  Random random(61);
  for (const DType dtype : {DType::none, DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const Arrangement arrangement : kArrangements)
      for (const std::vector<formats::Csr>& parts : batches_of_parts(dtype, arrangement, random)) {
        CAPTURE(name_of(dtype));
        CAPTURE(parts.size());
        const formats::Csr expected = joined_by_entries(parts, arrangement);
        for (std::size_t form = 0; form < 4; ++form)
          for (const bool backwards : {false, true})
            for (const bool trusted : {false, true}) {
              const Batch batch(entries_of_all(parts), form);
              HostRun run(backwards);
              const auto joined = join_on(run, batch.views, arrangement, {.trusted = trusted});
              REQUIRE_MESSAGE(joined.has_value(), joined.error().text());
              CHECK(!joined->borrows);
              CHECK(joined->csr.checked);
              CHECK(identical(view_of(joined->csr), expected.view()));
            }
      }
}

TEST_CASE("device batches: entries out of order are sorted, and new values find their places") {
  Random random(62);
  for (const Arrangement arrangement : kArrangements)
    for (const std::vector<formats::Csr>& parts : batches_of_parts(DType::f32, arrangement, random)) {
      std::vector<Entries> mixed;
      std::vector<float> given;  // values of all matrices, one behind the other
      for (const formats::Csr& part : parts) {
        const Entries e = entries_of(part);
        mixed.push_back(choose(e, shuffled(e, true, random)));
        const auto values = mixed.back().values.as<float>();
        given.insert(given.end(), values.begin(), values.end());
      }
      const Batch batch(std::move(mixed));
      for (const Disorder disorder : {Disorder::sort, Disorder::sum}) {
        HostRun run;
        const auto joined = join_on(run, batch.views, arrangement, {.disorder = disorder});
        REQUIRE_MESSAGE(joined.has_value(), joined.error().text());
        CHECK(!joined->borrows);
        CHECK(identical(view_of(joined->csr), joined_by_entries(parts, arrangement).view()));

        std::vector<float> to(given.size());
        runtime::cuda::put_values_on(run, *joined, given.data(), to.data());
        const auto* values = static_cast<const float*>(joined->csr.values);
        CHECK(std::equal(to.begin(), to.end(), values));
      }
    }
}

TEST_CASE("device batches: entries in one place of a matrix are added up, those of two matrices are not") {
  std::vector<Entries> parts;
  for (int i = 0; i < 2; ++i) {
    Entries& twice = parts.emplace_back(Entries{1, 2, {0, 0}, {1, 1}, formats::Array(DType::f32, 2)});
    twice.values.as<float>()[0] = 1, twice.values.as<float>()[1] = 2;
  }
  const Batch batch(std::move(parts));
  for (const Arrangement arrangement : kArrangements) {
    HostRun run;
    const auto joined = join_on(run, batch.views, arrangement, {.disorder = Disorder::sum});
    REQUIRE(joined);
    CHECK(joined->csr.rows == 2);
    REQUIRE(joined->csr.nnz == 2);
    CHECK(static_cast<const float*>(joined->csr.values)[0] == 3);
    CHECK(static_cast<const float*>(joined->csr.values)[1] == 3);
    CHECK(refusal(batch.views, arrangement, Disorder::sort).message.starts_with("matrix 0 of the batch: "));
  }
}

TEST_CASE("device batches: what is asked of a device does not grow with the number of matrices") {
  Random random(63);
  const auto counts_of = [&](int count) {
    std::vector<Entries> parts;
    for (int i = 0; i < count; ++i) parts.push_back(entries_of(random_matrix(5, 5, 0.5, DType::f32, random)));
    CountingRun run;
    const Batch batch(std::move(parts));
    REQUIRE(join_on(run, batch.views, Arrangement::block_diagonal, {}));
    return run.counts;
  };
  const RunCounts few = counts_of(2), many = counts_of(300);
  CHECK(many.launches == few.launches);
  CHECK(many.waits == few.waits);
  CHECK(many.waits <= 2);
  CHECK(many.kept == 1);
  CHECK(many.work == few.work);
}

TEST_CASE("device batches: a matrix that is none is refused by name, as it is alone") {
  Random random(64);
  const std::vector<formats::Csr> good = five(random);
  const auto broken = [&](const std::function<void(formats::Csr&)>& change) {
    std::vector<formats::Csr> parts;
    for (const formats::Csr& one : good) parts.push_back(formats::copy(one.view()));
    change(parts[3]);
    const auto alone = formats::check_csr(parts[3].view());
    REQUIRE(!alone);
    std::vector<DeviceEntries> views;
    for (const formats::Csr& one : parts)
      views.push_back({one.rows, one.cols, one.nnz(), one.row_ptr.data(), DType::i64, true,
                       one.col_idx.data(), DType::i32, one.values.data(), one.values.dtype()});
    for (const Arrangement arrangement : kArrangements) {
      const Error error = refusal(views, arrangement);
      CHECK(error.code == Errc::bad_input);
      CHECK(error.message == "matrix 3 of the batch: " + alone.error().message);
    }
  };
  broken([](formats::Csr& a) { a.row_ptr[0] = 1; });
  broken([](formats::Csr& a) { a.row_ptr[2] = a.row_ptr[1] - 1; });
  broken([](formats::Csr& a) { a.row_ptr[2] = std::int64_t{1} << 40; });
  broken([](formats::Csr& a) { a.row_ptr[4] -= 1; });
  broken([](formats::Csr& a) { a.col_idx[0] = -1; });
  broken([](formats::Csr& a) { a.col_idx[a.nnz() - 1] = 6; });
  broken([](formats::Csr& a) { std::swap(a.col_idx[0], a.col_idx[1]); });
}

TEST_CASE("device batches: what does not go together is refused before anything is looked at") {
  Random random(65);
  const Batch batch(entries_of_all(five(random)));
  const auto with = [&](Arrangement arrangement, const std::function<void(DeviceEntries&)>& change) {
    std::vector<DeviceEntries> views = batch.views;
    change(views[2]);
    for (DeviceEntries& one : views)  // of the device: nothing may be read
      one.row = one.col = one.values = reinterpret_cast<const void*>(std::uintptr_t{64});
    const Error error = refusal(views, arrangement);
    CHECK_MESSAGE(error.message.starts_with("matrix 2 of the batch: "), error.message);
    return error.code;
  };
  for (const Arrangement arrangement : kArrangements) {
    CHECK(with(arrangement, [](DeviceEntries& e) { e.value_dtype = DType::f64; }) == Errc::usage);
    CHECK(with(arrangement, [](DeviceEntries& e) { e.row_type = DType::f32; }) == Errc::usage);
    CHECK(with(arrangement, [](DeviceEntries& e) { e.row_is_pointer = false; }) == Errc::unsupported);
    CHECK(with(arrangement, [](DeviceEntries& e) { e.rows = 2147483647; }) == Errc::unsupported);
    CHECK(with(arrangement, [](DeviceEntries& e) { e.nnz = -1; }) == Errc::usage);
  }
  CHECK(with(Arrangement::stacked, [](DeviceEntries& e) { e.cols = 7; }) == Errc::usage);
  CHECK(with(Arrangement::block_diagonal, [](DeviceEntries& e) { e.cols = 2147483647; }) ==
        Errc::unsupported);
  CHECK(refusal({}, Arrangement::stacked).code == Errc::usage);
  std::vector<DeviceEntries> many = {batch.views[0], batch.views[0]};
  many[0].nnz = many[1].nnz = std::int64_t{1} << 31;
  CHECK(refusal(many, Arrangement::stacked).code == Errc::unsupported);
}
