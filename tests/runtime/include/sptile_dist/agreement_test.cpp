// What is thrown in one process is thrown in all, whatever it is.
#include <doctest/doctest.h>

#include "sptile_dist/agreement.hpp"

#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>

#include "tests/dist/threads.hpp"

using namespace sptile;
using sptile::dist::detail::Record;

namespace {

/// What each of two processes is told when one of them does `work`.
std::set<std::string> reports(const std::function<void()>& work) {
  std::mutex mutex;
  std::set<std::string> all;
  test::Threads threads(2);
  threads.run([&](std::int64_t rank) {
    test::ThreadExchange exchange(threads, rank);
    Record record;
    std::string text;
    try {
      dist::detail::attempt(exchange, record, [&] {
        if (rank == 1) work();
      });
    } catch (const Exception& e) {
      text = std::to_string(e.status()) + " " + e.what();
    }
    const std::lock_guard lock(mutex);
    all.insert(text);
  });
  return all;
}

}  // namespace

TEST_CASE("all processes are told what one throws") {
  using All = std::set<std::string>;
  CHECK(reports([] { throw Exception(SPTILE_STATUS_BAD_INPUT, "no part"); }) == All{"3 rank 1: no part"});
  CHECK(reports([] { throw std::runtime_error("no memory"); }) == All{"5 rank 1: no memory"});
  CHECK(reports([] { throw 7; }) == All{"70 rank 1: an exception that is not a std::exception was thrown"});
}

TEST_CASE("a long message ends with a whole letter") {
  Record record;
  const std::string letters = "a\u00e4\u20ac\U0001d11e";  // of 1, 2, 3 and 4 bytes
  std::string text;
  while (text.size() < 2 * sizeof record.message) text += letters;
  for (std::size_t skip = 0; skip < 10; ++skip, text.insert(0, "x")) {
    record.failed(SPTILE_STATUS_IO, text);
    const std::string shown = record.message;
    CHECK(shown.size() > sizeof record.message - 5);
    CHECK(text.starts_with(shown));
    CHECK((static_cast<unsigned char>(text[shown.size()]) & 0xC0U) != 0x80U);
  }
  record.failed(SPTILE_STATUS_IO, "short");
  CHECK(std::string(record.message) == "short");
}
