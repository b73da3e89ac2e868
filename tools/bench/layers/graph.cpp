#include "tools/bench/layers/graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/bundle/bundle.hpp"

namespace sptile::tools::layers {
namespace {

constexpr float kSelf = 1.1F;  // 1 + eps of GIN

template <class T>
DeviceBytes to_device(const std::vector<T>& from) {
  return {from.data(), from.size() * sizeof(T)};
}

/// The entries of a row, and the diagonal where it is wanted.
std::vector<std::int32_t> columns_of(const formats::CsrView& from, std::int64_t row, Weights weights) {
  const auto begin = from.col_idx.begin() + from.row_ptr[static_cast<std::size_t>(row)],
             end = from.col_idx.begin() + from.row_ptr[static_cast<std::size_t>(row) + 1];
  std::vector<std::int32_t> columns(begin, end);
  const auto self = static_cast<std::int32_t>(row);
  const auto place = std::lower_bound(columns.begin(), columns.end(), self);
  if (weights == Weights::sum_with_self && (place == columns.end() || *place != self))
    columns.insert(place, self);
  return columns;
}

std::vector<float> weights_of(const HostCsr& a, Weights weights) {
  std::vector<float> values(a.columns.size(), 1);
  const auto degree = [&](std::int64_t node) {
    const auto i = static_cast<std::size_t>(node);
    return static_cast<double>(std::max<std::int64_t>(a.row_ptr[i + 1] - a.row_ptr[i], 1));
  };
  for (std::int64_t row = 0; row < a.nodes; ++row)
    for (std::int64_t k = a.row_ptr[static_cast<std::size_t>(row)];
         k < a.row_ptr[static_cast<std::size_t>(row) + 1]; ++k) {
      const std::int32_t column = a.columns[static_cast<std::size_t>(k)];
      float& value = values[static_cast<std::size_t>(k)];
      if (weights == Weights::normalized)
        value = static_cast<float>(1 / std::sqrt(degree(row) * degree(column)));
      else if (column == row)
        value = kSelf;
    }
  return values;
}

/// The transpose: its row pointers, columns, and the place of each entry.
struct Transposed {
  std::vector<std::int32_t> row_ptr, columns, from;
};

Transposed transposed(const HostCsr& a) {
  Transposed t;
  t.row_ptr.resize(a.row_ptr.size());
  t.columns.resize(a.columns.size());
  t.from.resize(a.columns.size());
  for (const std::int32_t column : a.columns) ++t.row_ptr[static_cast<std::size_t>(column) + 1];
  for (std::size_t i = 1; i < t.row_ptr.size(); ++i) t.row_ptr[i] += t.row_ptr[i - 1];
  std::vector<std::int32_t> next(t.row_ptr.begin(), t.row_ptr.end() - 1);
  for (std::int64_t row = 0; row < a.nodes; ++row)
    for (auto k = static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row)]);
         k < static_cast<std::size_t>(a.row_ptr[static_cast<std::size_t>(row) + 1]); ++k) {
      const auto place = static_cast<std::size_t>(next[static_cast<std::size_t>(a.columns[k])]++);
      t.columns[place] = static_cast<std::int32_t>(row);
      t.from[place] = static_cast<std::int32_t>(k);
    }
  return t;
}

}  // namespace

Result<HostCsr> read_graph(const std::string& path, Weights weights) {
  const auto bundle = runtime::Bundle::open(path);
  if (!bundle) return tl::unexpected(bundle.error());
  const formats::CsrView from = (*bundle)->csr();
  if (from.rows != from.cols) return fail(Errc::unsupported, path + ": the matrix of a graph must be square");
  if (from.nnz() + from.rows > std::numeric_limits<std::int32_t>::max())
    return fail(Errc::unsupported, path + ": more than 2^31 - 1 entries");
  HostCsr a;
  a.nodes = from.rows;
  a.row_ptr.push_back(0);
  for (std::int64_t row = 0; row < from.rows; ++row) {
    const std::vector<std::int32_t> columns = columns_of(from, row, weights);
    a.columns.insert(a.columns.end(), columns.begin(), columns.end());
    a.row_ptr.push_back(static_cast<std::int64_t>(a.columns.size()));
  }
  a.values = weights_of(a, weights);
  return a;
}

DeviceGraph::DeviceGraph(const HostCsr& a) {
  const Transposed t = transposed(a);
  arrays_.push_back(to_device(std::vector<std::int32_t>(a.row_ptr.begin(), a.row_ptr.end())));
  for (const auto* const ids : {&a.columns, &t.row_ptr, &t.columns, &t.from})
    arrays_.push_back(to_device(*ids));
  const auto ids = [&](std::size_t i) { return static_cast<const std::int32_t*>(arrays_[i].get()); };
  edges_ = {a.nodes, static_cast<std::int64_t>(a.columns.size()), ids(0), ids(1), ids(2), ids(3), ids(4)};
  std::vector<float> turned(a.values.size());
  for (std::size_t i = 0; i < turned.size(); ++i) turned[i] = a.values[static_cast<std::size_t>(t.from[i])];
  for (int side = 0; side < 2; ++side) {
    const std::vector<float>& list = side == 0 ? a.values : turned;
    values_[0][side] = std::make_unique<DeviceBytes>(to_device(list));
    values_[1][side] =
        std::make_unique<DeviceBytes>(to_device(std::vector<double>(list.begin(), list.end())));
  }
  expect(cudaDeviceSynchronize());
}

}  // namespace sptile::tools::layers
