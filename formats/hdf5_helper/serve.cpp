#include "formats/hdf5_helper/serve.hpp"

#include <hdf5.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <iterator>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "formats/core/buffer.hpp"
#include "formats/hdf5_helper/input.hpp"
#include "formats/hdf5_helper/output.hpp"
#include "formats/io/hdf5/hdf5_message.hpp"

namespace sptile::formats {
namespace {

ParameterValue value_of(FieldReader& fields) {
  using Kind = ParameterValue::Kind;
  const auto kind = static_cast<Kind>(fields.number());
  if (kind == Kind::text) return fields.text();
  if (kind == Kind::real) return std::bit_cast<double>(fields.number());
  return fields.number();
}

std::string library_version() {
  unsigned major = 0, minor = 0, release = 0;
  if (H5get_libversion(&major, &minor, &release) < 0) return "unknown";
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

bool receive_all(int socket, void* to, std::size_t bytes) {
  auto* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t count = ::recv(socket, next, bytes, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    next += count, bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

class Server {
 public:
  Server(int socket, int file, Hdf5Surroundings& surroundings)
      : socket_(socket), file_(file), surroundings_(surroundings) {}

  bool serve_one() {
    Hdf5Head head;
    if (!receive_all(socket_, &head, sizeof head)) return false;
    if (head.kind >= kHdf5Ops || head.bytes > kMaxHdf5Bytes) return false;
    std::string bytes(head.bytes, '\0');
    if (!receive_all(socket_, bytes.data(), bytes.size())) return false;
    surroundings_.begin_work(seconds());
    FieldReader fields(std::move(bytes));
    const Result<Fields> answer = try_to_work(static_cast<Hdf5Op>(head.kind), fields);
    surroundings_.end_work();
    return answer ? send(Hdf5Answer::done, answer->bytes())
                  : send(Hdf5Answer::failed, fields_of(answer.error()).bytes());
  }

 private:
  using Work = Result<Fields> (Server::*)(FieldReader& fields);
  struct Row {
    Hdf5Op op;
    Work work;
  };
  static const Row kRows[kHdf5Ops];

  // Time limit of a request on a valid file; most requests take a millisecond.
  [[nodiscard]] double seconds(std::int64_t more_bytes = 0) const {
    constexpr double kMin = 2, kBytesPerSecond = 4 << 20;
    const std::int64_t bytes = input_ ? input_->file_bytes() : 0;
    return kMin + static_cast<double>(bytes + more_bytes) / kBytesPerSecond;
  }

  bool send(Hdf5Answer kind, std::string_view bytes) const {
    return send_message(socket_, static_cast<std::uint32_t>(kind), bytes);
  }

  bool send_data(const char* data, std::size_t bytes) const {
    for (std::size_t step = 0; bytes > 0; data += step, bytes -= step) {
      step = std::min<std::size_t>(bytes, kMaxHdf5Bytes);
      if (!send(Hdf5Answer::data, {data, step})) return false;
    }
    return true;
  }

  Result<Fields> try_to_work(Hdf5Op op, FieldReader& fields) {
    try {
      const Row& row = kRows[static_cast<std::size_t>(op)];
      const bool reads = op >= Hdf5Op::text && op <= Hdf5Op::read, writes = op >= Hdf5Op::add_group;
      if ((reads && !input_) || (writes && !output_)) return fail(Errc::usage, "no file is open");
      return (this->*row.work)(fields);
    } catch (const std::bad_alloc& error) {
      return fail(Errc::io, out_of_memory(error));
    }
  }

  static Result<Fields> outcome(Status s) {
    if (!s) return tl::unexpected(std::move(s.error()));
    return Fields();
  }

  Result<Fields> hello(FieldReader&) {
    if (Status s = surroundings_.reserve(0); !s) return tl::unexpected(std::move(s.error()));
    Fields fields;
    return fields.number(kHdf5Protocol).text(library_version());
  }

  Result<Fields> open_input(FieldReader& fields) {
    auto opened = Hdf5Input::open(file_, fields.text());
    if (!opened) return tl::unexpected(std::move(opened.error()));
    input_.emplace(std::move(*opened));
    return Fields();
  }

  Result<Fields> text(FieldReader& fields) {
    const std::string attribute = fields.text(), object = fields.text();
    const auto found = input_->text(attribute, object);
    if (!found) return tl::unexpected(found.error());
    Fields answer;
    return answer.number(found->has_value()).text(found->value_or(""));
  }

  Result<Fields> integers(FieldReader& fields) {
    const std::string attribute = fields.text(), object = fields.text();
    const auto found = input_->integers(attribute, object);
    if (!found) return tl::unexpected(found.error());
    const std::vector<std::int64_t> numbers = found->value_or(std::vector<std::int64_t>());
    Fields answer;
    answer.number(found->has_value()).number(static_cast<std::int64_t>(numbers.size()));
    for (const std::int64_t number : numbers) answer.number(number);
    return answer;
  }

  Result<Fields> has(FieldReader& fields) { return Fields().number(input_->has(fields.text())); }

  Result<Fields> names(FieldReader&) {
    const std::vector<std::string> names = input_->names();
    Fields answer;
    answer.number(static_cast<std::int64_t>(names.size()));
    for (const std::string& name : names) answer.text(name);
    return answer;
  }

  Result<Fields> array(FieldReader& fields) {
    auto opened = input_->array(fields.text());
    if (!opened) return tl::unexpected(std::move(opened.error()));
    arrays_.push_back(std::move(*opened));
    const StoredArray& array = arrays_.back();
    Fields answer;
    return answer.number(static_cast<std::int64_t>(arrays_.size()) - 1)
        .number(static_cast<std::int64_t>(array.type.kind))
        .number(array.type.bytes)
        .number(array.size);
  }

  Result<Fields> read(FieldReader& fields) {
    constexpr std::int64_t kWidest = 8, kCopies = 3;  // widest element; buffers: packed, between two filters,
                                                      // unpacked
    const std::int64_t handle = fields.number();
    const auto dtype = static_cast<DType>(fields.number());
    if (handle < 0 || handle >= static_cast<std::int64_t>(arrays_.size()))
      return fail(Errc::usage, "no array is open");
    const StoredArray& array = arrays_[static_cast<std::size_t>(handle)];
    const std::int64_t chunk = Hdf5Input::chunk_bytes(array);
    if (Status s = surroundings_.reserve(kCopies * chunk + kWidest * array.chunk); !s)
      return fail(s.error().code, "its chunks: " + s.error().message, input_->where(array.name));
    surroundings_.begin_work(seconds(array.size * kWidest));
    return outcome(input_->read(array, dtype, [&](const char* data, std::size_t bytes) {
      surroundings_.end_work();
      const bool sent = send_data(data, bytes);
      surroundings_.begin_work(seconds(array.size * kWidest));
      return sent;
    }));
  }

  Result<Fields> take_output(Result<Hdf5Output> started) {
    if (!started) return tl::unexpected(std::move(started.error()));
    output_.emplace(std::move(*started));
    return Fields();
  }

  Result<Fields> create_output(FieldReader& fields) {
    return take_output(Hdf5Output::create(file_, static_cast<std::uint64_t>(fields.number())));
  }
  Result<Fields> open_output(FieldReader&) { return take_output(Hdf5Output::open(file_)); }
  Result<Fields> add_group(FieldReader& fields) { return outcome(output_->add_group(fields.text())); }
  Result<Fields> has_member(FieldReader& fields) { return Fields().number(output_->has(fields.text())); }
  Result<Fields> remove(FieldReader& fields) { return outcome(output_->remove(fields.text())); }

  Result<Fields> add_attribute(FieldReader& fields) {
    const std::string path = fields.text(), name = fields.text();
    return outcome(output_->add_attribute(path, name, value_of(fields)));
  }

  Result<Fields> add_array(FieldReader& fields) {
    const std::string path = fields.text();
    const auto dtype = static_cast<DType>(fields.number());
    const auto offset = output_->add_array(path, dtype, fields.number());
    if (!offset) return tl::unexpected(offset.error());
    return Fields().number(static_cast<std::int64_t>(*offset));
  }

  Result<Fields> add_link(FieldReader& fields) {
    const std::string path = fields.text();
    return outcome(output_->add_link(path, fields.text()));
  }

  Result<Fields> place(FieldReader& fields) {
    const auto place = output_->place(fields.text());
    if (!place) return tl::unexpected(place.error());
    return Fields()
        .number(static_cast<std::int64_t>(place->offset))
        .number(static_cast<std::int64_t>(place->bytes));
  }

  Result<Fields> close(FieldReader&) { return outcome(output_->close()); }

  int socket_, file_;
  Hdf5Surroundings& surroundings_;
  std::optional<Hdf5Input> input_;
  std::vector<StoredArray> arrays_;  // declared after the file, so that arrays are closed first
  std::optional<Hdf5Output> output_;
};

const Server::Row Server::kRows[kHdf5Ops] = {
    {Hdf5Op::hello, &Server::hello},
    {Hdf5Op::open_input, &Server::open_input},
    {Hdf5Op::text, &Server::text},
    {Hdf5Op::integers, &Server::integers},
    {Hdf5Op::has, &Server::has},
    {Hdf5Op::names, &Server::names},
    {Hdf5Op::array, &Server::array},
    {Hdf5Op::read, &Server::read},
    {Hdf5Op::create_output, &Server::create_output},
    {Hdf5Op::open_output, &Server::open_output},
    {Hdf5Op::add_group, &Server::add_group},
    {Hdf5Op::has_member, &Server::has_member},
    {Hdf5Op::remove, &Server::remove},
    {Hdf5Op::add_attribute, &Server::add_attribute},
    {Hdf5Op::add_array, &Server::add_array},
    {Hdf5Op::add_link, &Server::add_link},
    {Hdf5Op::place, &Server::place},
    {Hdf5Op::close, &Server::close},
};

}  // namespace

void serve_hdf5(int socket, int file, Hdf5Surroundings& surroundings) {
  Server server(socket, file, surroundings);
  while (server.serve_one()) continue;
}

}  // namespace sptile::formats
