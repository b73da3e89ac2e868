// Rounds of greedy packing, as reorder::pack_greedily: devices grow windows, the host accepts them.
#pragma once

#include <bit>
#include <string>
#include <utility>
#include <vector>

#include "runtime/cuda/reorder/grow_windows.hpp"
#include "runtime/cuda/reorder/pack_input.hpp"

namespace sptile::runtime::cuda::pack {

struct TakeRows {
  const std::int32_t* rows;
  std::int32_t* size;

  SPTILE_HOST_DEVICE void operator()(std::int64_t i) const { size[rows[i]] = 0; }
};

struct WriteListSizes {
  const std::int64_t* first;
  std::int32_t* size;

  SPTILE_HOST_DEVICE void operator()(std::int64_t c) const {
    size[c] = static_cast<std::int32_t>(first[c + 1] - first[c]);
  }
};

/// Marks the entries of lists whose rows are free.
struct MarkFree {
  CsrRows lists;
  const std::int32_t *list_rows, *list_size, *size;
  std::uint32_t* marks;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    lists.visit_apart(step, [&](std::int64_t i, std::int64_t column) {
      marks[i] = i < lists.row_ptr[column] + list_size[column] && size[list_rows[i]] != 0 ? 1 : 0;
    });
  }
};

/// Writes the marked entries of each list. `before`: prefix sums of the marks.
struct KeepFree {
  CsrRows lists;
  const std::int32_t* list_rows;
  const std::uint32_t* before;
  std::int32_t* to;

  SPTILE_HOST_DEVICE void operator()(std::int64_t step) const {
    lists.visit_apart(step, [&](std::int64_t i, std::int64_t column) {
      const std::int64_t first = lists.row_ptr[column];
      if (before[i + 1] != before[i]) to[first + before[i] - before[first]] = list_rows[i];
    });
  }
};

struct WriteKeptSizes {
  const std::int64_t* first;
  const std::uint32_t* before;
  std::int32_t* size;

  SPTILE_HOST_DEVICE void operator()(std::int64_t c) const {
    size[c] = static_cast<std::int32_t>(before[first[c + 1]] - before[first[c]]);
  }
};

struct GreedySizes {
  std::int64_t rows, cols, entries, proposals;
};

struct GreedyParts {
  std::int32_t *size = nullptr, *free_rows = nullptr, *taken = nullptr, *list_size = nullptr;
  std::int32_t *lists = nullptr, *other_lists = nullptr, *proposed = nullptr;
  std::uint32_t* marks = nullptr;
  ChainState* chains = nullptr;

  void place(Arena& arena, const GreedySizes& sizes) {
    arena.take(size, sizes.rows);
    arena.take(free_rows, sizes.rows);
    arena.take(taken, sizes.rows);
    arena.take(list_size, sizes.cols);
    arena.take(lists, sizes.entries);
    arena.take(other_lists, sizes.entries);
    arena.take(proposed, sizes.proposals);
    arena.take(marks, sizes.entries + 1);
    arena.take(chains, packing::kMaxChains);
  }
};

/// Packs the nonempty rows of a matrix, which come first, and returns their order.
template <class Run>
class Greedy {
 public:
  Greedy(Run& run, const DeviceCsr& a, const packing::GreedyRules& rules) : run_(run), a_(a), rules_(rules) {}

  Result<std::vector<std::int32_t>> pack() {
    if (Status s = start(); !s) return tl::unexpected(s.error());
    while (!free_rows_.empty()) {
      if (Status s = place_some(); !s) return tl::unexpected(s.error());
      if (Status s = purge(); !s) return tl::unexpected(s.error());
    }
    return packing::windows_of(chains_, filled_);
  }

 private:
  Status start() {
    std::vector<std::int64_t> row_ptr(static_cast<std::size_t>(a_.rows) + 1);
    run_.download(row_ptr.data(), a_.row_ptr, a_.rows + 1);
    if (Status s = run_.status(); !s) return s;
    std::int64_t longest = 1;
    for (std::int64_t r = 0; r < a_.rows; ++r) {
      const std::int64_t entries =
          row_ptr[static_cast<std::size_t>(r) + 1] - row_ptr[static_cast<std::size_t>(r)];
      if (entries == 0) break;
      longest = std::max(longest, entries);
      size_.push_back(static_cast<std::int32_t>(entries));
      free_rows_.push_back(static_cast<std::int32_t>(r));
    }
    const std::int64_t n = filled_ = std::ssize(size_);
    if (n == 0) return {};
    entries_ = a_.nnz;
    few_ = entries_ / 64;
    const std::int64_t lookups = packing::lookups_for(rules_, longest);
    if (lookups > kMaxLookups)
      return fail(Errc::unsupported,
                  "pack: the longest row has " + std::to_string(longest) + " nonzeros and needs " +
                      std::to_string(lookups) + " lookups, but a device supports at most " +
                      std::to_string(kMaxLookups) + "; order on the CPU, or set fewer lookups");
    auto transposed = transpose_on(run_, a_, false);
    if (!transposed) return tl::unexpected(transposed.error());
    transposed_ = std::move(*transposed);
    const std::int64_t height = rules_.window_rows;
    // A chain of several proposes at most 1 / kRounds of its share of the rows, or kChainWindows windows.
    const std::int64_t proposals = n + packing::kMaxChains * ((packing::kChainWindows + 1) * height + 2);
    if (Status s = parts_.make(run_, GreedySizes{n, a_.cols, a_.nnz, proposals}); !s) return s;
    const auto chains = packing::stage_of(n, entries_, few_, rules_.window_rows).chains;
    sizes_ = {n, a_.cols, std::min(n, 2 * lookups) + 1,
              static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(longest)))};
    Arena count;
    ChainMemory().place(count, sizes_);
    chain_bytes_ = static_cast<std::int64_t>(count.bytes());
    auto memory = run_.work(chains * count.bytes(), "packing");
    if (!memory) return tl::unexpected(memory.error());
    memory_ = std::move(*memory);
    Arena arena(memory_.get());
    first_.place(arena, sizes_);
    for (std::size_t c = 0; c < chains; ++c) {
      const ChainMemory chain = first_.after(static_cast<std::int64_t>(c) * chain_bytes_);
      run_.fill(chain.state, static_cast<std::size_t>(n) * sizeof *chain.state);
      run_.clear(chain.holders, static_cast<std::size_t>(a_.cols) * sizeof *chain.holders);
    }
    run_.upload(parts_.size, size_.data(), n);
    run_.upload(parts_.free_rows, free_rows_.data(), n);
    run_.copy(parts_.lists, transposed_.csr.col_idx, static_cast<std::size_t>(a_.nnz) * sizeof *parts_.lists);
    run_.each(a_.cols, WriteListSizes{transposed_.csr.row_ptr, parts_.list_size});
    return run_.status();
  }

  /// Places rows until the next purge.
  Status place_some() {
    const packing::Stage stage =
        packing::stage_of(std::ssize(free_rows_), entries_, few_, rules_.window_rows);
    packing::spread_chains(chains_, stage.chains, free_rows_, size_, entries_);
    std::size_t running = stage.chains;
    for (std::int64_t placed = 0; placed < stage.goal;) {
      if (Status s = propose(stage, running); !s) return s;
      std::vector<std::size_t> before;
      for (const packing::Chain& chain : chains_) before.push_back(chain.packed.size());
      const std::int64_t rows =
          packing::accept(chains_, running, size_, rules_.window_rows, stage.chains == 1);
      std::vector<std::int32_t> taken;
      for (std::size_t c = 0; c < chains_.size(); ++c)
        taken.insert(taken.end(), chains_[c].packed.begin() + static_cast<std::ptrdiff_t>(before[c]),
                     chains_[c].packed.end());
      run_.upload(parts_.taken, taken.data(), std::ssize(taken));
      run_.each(std::ssize(taken), TakeRows{parts_.taken, parts_.size});
      running = packing::next_running(chains_, running, stage.chains, rows);
      placed += rows;
    }
    return run_.status();
  }

  Status propose(const packing::Stage& stage, std::size_t running) {
    const auto count = static_cast<std::int64_t>(running);
    std::vector<ChainState> states;
    for (std::size_t c = 0; c < running; ++c)
      states.push_back({static_cast<std::int64_t>(chains_[c].place), chains_[c].next, 0});
    run_.upload(parts_.chains, states.data(), count);
    const std::int64_t capacity = stage.max_rows + rules_.window_rows;
    const Sets sets{{a_.row_ptr, filled_, a_.nnz},
                    a_.col_idx,
                    a_.cols,
                    transposed_.csr.row_ptr,
                    parts_.lists,
                    parts_.list_size,
                    parts_.size,
                    parts_.free_rows,
                    std::ssize(free_rows_)};
    run_.teams(count, GrowWindows{sets, rules_, first_, chain_bytes_, parts_.chains, parts_.proposed,
                                  capacity, stage.max_rows, stage.max_entries});
    run_.download(states.data(), parts_.chains, count);
    std::vector<std::int32_t> proposed(static_cast<std::size_t>(count * capacity));
    run_.download(proposed.data(), parts_.proposed, count * capacity);
    if (Status s = run_.status(); !s) return s;
    for (std::size_t c = 0; c < running; ++c) {
      const auto first = proposed.begin() + static_cast<std::ptrdiff_t>(c) * capacity;
      chains_[c].place = static_cast<std::size_t>(states[c].place);
      chains_[c].next = states[c].next;
      chains_[c].proposed.assign(first, first + states[c].proposed);
    }
    return {};
  }

  /// Drops placed rows from all lists.
  Status purge() {
    std::erase_if(free_rows_, [&](std::int32_t row) { return size_[static_cast<std::size_t>(row)] == 0; });
    entries_ = 0;
    for (const std::int32_t row : free_rows_) entries_ += size_[static_cast<std::size_t>(row)];
    if (free_rows_.empty()) return {};
    run_.upload(parts_.free_rows, free_rows_.data(), std::ssize(free_rows_));
    const std::int64_t* const first = transposed_.csr.row_ptr;
    const CsrRows lists{first, a_.cols, a_.nnz};
    run_.clear(parts_.marks + a_.nnz, sizeof *parts_.marks);
    run_.each(lists.steps_apart(),
              MarkFree{lists, parts_.lists, parts_.list_size, parts_.size, parts_.marks});
    run_.sum(parts_.marks, a_.nnz + 1);
    run_.each(lists.steps_apart(), KeepFree{lists, parts_.lists, parts_.marks, parts_.other_lists});
    run_.each(a_.cols, WriteKeptSizes{first, parts_.marks, parts_.list_size});
    std::swap(parts_.lists, parts_.other_lists);
    return run_.status();
  }

  static constexpr std::int64_t kMaxLookups = 1 << 30;  // positions of lookups have 31 bits

  Run& run_;
  const DeviceCsr& a_;
  std::int64_t filled_ = 0;  // nonempty rows
  packing::GreedyRules rules_;
  std::vector<std::int32_t> size_;       // nonzeros by row; 0 if placed
  std::vector<std::int32_t> free_rows_;  // at the last purge
  std::int64_t entries_ = 0, few_ = 0;   // nonzeros of free_rows_; enough for one round
  std::vector<packing::Chain> chains_;
  OwnedCsr transposed_;
  Workspace<GreedyParts> parts_;
  ChainSizes sizes_{};
  std::int64_t chain_bytes_ = 0;
  ChainMemory first_{};
  std::shared_ptr<std::byte> memory_;
};

}  // namespace sptile::runtime::cuda::pack
