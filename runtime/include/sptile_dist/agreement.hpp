// Messages that all processes exchange before a product, so that an error in one is thrown in all.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sptile.hpp"
#include "sptile_dist/exchange.hpp"

namespace sptile {
inline namespace v1 {
namespace dist {
namespace detail {

/// Error of one process, or none.
struct Outcome {
  std::int64_t status = SPTILE_STATUS_OK;
  char message[512] = {};

  void failed(sptile_status with, std::string_view why) {
    status = with;
    const std::size_t bytes = whole_letters(why, sizeof message - 1);
    std::copy_n(why.data(), bytes, message);
    message[bytes] = '\0';
  }

 private:
  /// Returns the length in bytes of the longest prefix of at most `limit` bytes that does not split a UTF-8
  /// character.
  static std::size_t whole_letters(std::string_view text, std::size_t limit) {
    if (text.size() <= limit) return text.size();
    while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0U) == 0x80U) --limit;
    return limit;
  }
};

/// Description of one process and its product.
struct Record : Outcome {
  std::uint64_t id = 0;  ///< id of the partition
  std::int64_t parts = 0, rank = 0, n = 0, element_bytes = 0, transpose = 0, never_slower = 0;
};

/// Returns the records of all processes, by rank.
template <class R, Group G>
std::vector<R> gathered(G& group, const R& mine) {
  static_assert(std::is_trivially_copyable_v<R>);
  std::vector<R> all(static_cast<std::size_t>(group.size()));
  group.all_gather(&mine, sizeof mine, all.data());
  return all;
}

[[noreturn]] inline void refuse(std::size_t rank, sptile_status status, const std::string& what) {
  throw Exception(status, "rank " + std::to_string(rank) + ": " + what);
}

/// Throws the same exception in all processes if any outcome is an error. `all` are those of all processes,
/// by rank.
template <std::derived_from<Outcome> R>
void agree(const std::vector<R>& all) {
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].status != SPTILE_STATUS_OK)
      refuse(r, static_cast<sptile_status>(all[r].status), all[r].message);
}

/// Throws the same exception in all processes if the records differ.
inline void compare(const std::vector<Record>& records) {
  const auto processes = static_cast<std::int64_t>(records.size());
  const Record& first = records.front();
  const auto differs = [&](std::size_t r, const char* what, std::int64_t mine, std::int64_t firsts) {
    if (mine != firsts)
      refuse(r, SPTILE_STATUS_USAGE,
             std::string(what) + " = " + std::to_string(mine) + ", but " + std::to_string(firsts) +
                 " on rank 0; all processes must pass the same value");
  };
  for (std::size_t r = 0; r < records.size(); ++r) {
    const Record& one = records[r];
    if (one.parts != processes)
      refuse(r, SPTILE_STATUS_USAGE,
             "the matrix is in " + std::to_string(one.parts) + " parts, but there are " +
                 std::to_string(processes) + " processes; start one process per part");
    if (one.rank != static_cast<std::int64_t>(r))
      refuse(r, SPTILE_STATUS_BAD_INPUT,
             "its part declares itself part " + std::to_string(one.rank) + "; partition the matrix again");
    if (one.id != first.id)
      refuse(r, SPTILE_STATUS_BAD_INPUT,
             "its part belongs to a different partition from that of rank 0; all processes must use one "
             "directory");
    differs(r, "n", one.n, first.n);
    differs(r, "bytes of an element", one.element_bytes, first.element_bytes);
    differs(r, "transpose", one.transpose, first.transpose);
    differs(r, "never_slower", one.never_slower, first.never_slower);
  }
}

/// Runs `work` and throws an exception of one process in all of them. Returns `mine` of all processes, by
/// rank.
template <Group G, std::derived_from<Outcome> R, class Work>
std::vector<R> attempt(G& group, R& mine, const Work& work) {
  try {
    work();
  } catch (const Exception& e) {
    mine.failed(e.status(), e.what());
  } catch (const std::exception& e) {
    mine.failed(SPTILE_STATUS_IO, e.what());
  } catch (...) {
    mine.failed(SPTILE_STATUS_INTERNAL, "an exception that is not a std::exception was thrown");
  }
  std::vector<R> all = gathered(group, mine);
  agree(all);
  return all;
}

/// Number of rows that one part sends to another, and a hash (FNV-1a) of their ids in the entire matrix.
struct Rows {
  std::uint64_t count = 0, hash = 0xcbf29ce484222325U;

  void add(std::int32_t id) {
    ++count;
    for (int shift = 0; shift < 32; shift += 8)
      hash = (hash ^ (static_cast<std::uint32_t>(id) >> shift & 0xffU)) * 0x100000001b3U;
  }
  friend bool operator==(const Rows&, const Rows&) = default;
};

/// Checks that each part sends to each other part the rows that it expects. Every part is valid by itself.
class Lists {
 public:
  explicit Lists(const Part& part)
      : parts_(static_cast<std::size_t>(part.parts())), mine_(2 * parts_), all_(2 * parts_ * parts_) {
    for (std::size_t p = 0; p < parts_; ++p) {
      for (auto i = part.send_offset()[p]; i < part.send_offset()[p + 1]; ++i)
        mine_[p].add(part.old_ids()[static_cast<std::size_t>(part.send_rows()[static_cast<std::size_t>(i)])]);
      for (auto i = part.receive_offset()[p]; i < part.receive_offset()[p + 1]; ++i)
        mine_[parts_ + p].add(part.halo_ids()[static_cast<std::size_t>(i)]);
    }
  }

  /// Throws in all processes if two lists differ.
  template <Group G>
  void compare(G& group) {
    group.all_gather(mine_.data(), mine_.size() * sizeof(Rows), all_.data());
    for (std::size_t from = 0; from < parts_; ++from)
      for (std::size_t to = 0; to < parts_; ++to) {
        const Rows &sent = all_[2 * parts_ * from + to], &expected = all_[2 * parts_ * to + parts_ + from];
        if (sent != expected)
          throw Exception(SPTILE_STATUS_BAD_INPUT,
                          "part " + std::to_string(from) + " sends " + std::to_string(sent.count) +
                              " rows to part " + std::to_string(to) + ", which expects different rows (" +
                              std::to_string(expected.count) + "); partition the matrix again");
      }
  }

 private:
  std::size_t parts_;
  std::vector<Rows> mine_, all_;  // rows to and from each part: of this process; of all processes
};

}  // namespace detail
}  // namespace dist
}  // namespace v1
}  // namespace sptile
