#include "harness/protocol.h"

#include <simdjson.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace holdfast {

namespace {

using simdjson::ondemand::json_type;

// Values go into the history as they are; the library that reads envelopes fast does not build documents.
Value to_value(simdjson::ondemand::value element) {
  std::string_view text;
  const json_type type = element.type();
  if (type == json_type::object) {
    text = element.get_object().value().raw_json();
  } else if (type == json_type::array) {
    text = element.get_array().value().raw_json();
  } else {
    text = element.raw_json_token();
  }
  return Value::parse(text);
}

EventType completion_type(std::string_view type) {
  if (type == "ok") return EventType::ok;
  if (type == "fail") return EventType::fail;
  return EventType::info;  // what a client does not say clearly, nobody knows
}

Message read_envelope(simdjson::ondemand::object envelope) {
  Reply reply;
  Note note;
  bool has_id = false;
  bool has_type = false;
  for (auto field : envelope) {
    const std::string_view name = field.unescaped_key();
    if (name == "id") {
      reply.id = field.value().get_uint64();
      has_id = true;
    } else if (name == "type") {
      reply.type = completion_type(std::string_view(field.value()));
      has_type = true;
    } else if (name == "value") {
      reply.value = to_value(field.value());
    } else if (name == "error") {
      reply.error = to_value(field.value());
    } else if (name == "event") {
      note.event = std::string_view(field.value());
    } else if (name == "key") {
      note.key = std::string_view(field.value());
    } else if (name == "step") {
      note.step = std::string_view(field.value());
    }
  }
  if (!note.event.empty()) {
    note.value = std::move(reply.value);
    return note;
  }
  if (!has_id || !has_type) return Garbage{R"(neither "id" and "type" nor "event" in it)"};
  return reply;
}

}  // namespace

std::string request_line(std::uint64_t id, std::string_view f, std::string_view key, const Value& value,
                         const std::vector<std::string>& stop_at) {
  std::string line = R"({"id":)" + std::to_string(id);
  line += R"(,"f":)";
  append_json_text(line, f);
  if (!key.empty()) {
    line += R"(,"key":)";
    append_json_text(line, key);
  }
  if (!value.is_null()) {
    line += R"(,"value":)";
    line += value.dump();
  }
  if (!stop_at.empty()) {
    line += R"(,"stop_at":)";
    line += Value(stop_at).dump();
  }
  line += "}\n";
  return line;
}

Message parse_message(std::string_view line) {
  if (nested_too_deep(line)) return Garbage{"nested too deeply"};
  thread_local simdjson::ondemand::parser parser;
  thread_local std::string padded;
  padded.assign(line);
  padded.resize(line.size() + simdjson::SIMDJSON_PADDING);
  try {
    simdjson::ondemand::document document =
        parser.iterate(simdjson::padded_string_view(padded.data(), line.size(), padded.size()));
    return read_envelope(document.get_object());
  } catch (const simdjson::simdjson_error& error) {
    return Garbage{error.what()};
  } catch (const Value::exception& error) {
    return Garbage{error.what()};
  }
}

LineReader::Status LineReader::fill(int descriptor) {
  thread_local std::array<char, std::size_t{64} << 10U> chunk;
  if (start_ > 0) {
    buffer_.erase(0, start_);
    scanned_ -= start_;
    start_ = 0;
  }
  if (buffer_.size() > kLineLimit && scanned_ == buffer_.size()) return Status::too_long;
  ssize_t count = 0;
  do {
    count = ::read(descriptor, chunk.data(), chunk.size());
  } while (count < 0 && errno == EINTR);
  if (count > 0) {
    buffer_.append(chunk.data(), static_cast<std::size_t>(count));
    return Status::open;
  }
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Status::open : Status::ended;
}

std::optional<std::string_view> LineReader::next_line() {
  const std::size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    return std::nullopt;
  }
  const std::string_view line(buffer_.data() + start_, end - start_);
  start_ = scanned_ = end + 1;
  return line;
}

}  // namespace holdfast
