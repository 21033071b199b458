#include "harness/protocol.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace holdfast {
namespace {

TEST(Protocol, RequestsAreOneLineOfJson) {
  EXPECT_EQ(request_line(7, "acquire", "L1", {{"hold", 12}}, {"setnx-done"}),
            "{\"id\":7,\"f\":\"acquire\",\"key\":\"L1\",\"value\":{\"hold\":12},\"stop_at\":[\"setnx-done\"]}\n");
  EXPECT_EQ(request_line(1, "noop", "", nullptr, {}), "{\"id\":1,\"f\":\"noop\"}\n");
  EXPECT_EQ(Value::parse(request_line(1, "a\"b", "\n", "\x01", {})),
            (Value{{"id", 1}, {"f", "a\"b"}, {"key", "\n"}, {"value", "\x01"}}));
}

TEST(Protocol, RepliesKeepTheirValues) {
  const Message message = parse_message(R"({"id":7,"type":"ok","value":{"token":17,"list":[1,"x",null]},"error":"e"})");
  const auto& reply = std::get<Reply>(message);
  EXPECT_EQ(reply.id, 7U);
  EXPECT_EQ(reply.type, EventType::ok);
  EXPECT_EQ(reply.value, (Value{{"token", 17}, {"list", {1, "x", nullptr}}}));
  EXPECT_EQ(reply.error, "e");
  EXPECT_EQ(std::get<Reply>(parse_message(R"({"type":"fail","id":1})")).type, EventType::fail);
  // What a client does not say clearly, nobody knows.
  EXPECT_EQ(std::get<Reply>(parse_message(R"({"id":1,"type":"perhaps"})")).type, EventType::info);
}

TEST(Protocol, NotesAreTold) {
  const Message message = parse_message(R"({"event":"step","id":3,"step":"get-done","key":"L1","value":{"hold":5}})");
  const auto& note = std::get<Note>(message);
  EXPECT_EQ(note.event, "step");
  EXPECT_EQ(note.step, "get-done");
  EXPECT_EQ(note.key, "L1");
  EXPECT_EQ(note.value, (Value{{"hold", 5}}));
}

TEST(Protocol, GarbageIsGarbage) {
  for (const char* line :
       {"", "hello", "{", "[]", "7", R"({"id":1})", R"({"type":"ok"})", R"({"id":-1,"type":"ok"})",
        R"({"id":"x","type":"ok"})", R"({"id":1,"type":7})", R"({"id":1,"type":"ok","value":{"a":}})", "\xff\xfe"}) {
    EXPECT_TRUE(std::holds_alternative<Garbage>(parse_message(line))) << line;
  }
}

TEST(Protocol, BottomlessValuesAreGarbage) {
  const std::string line =
      R"({"id":1,"type":"ok","value":)" + std::string(100000, '[') + std::string(100000, ']') + "}";
  EXPECT_TRUE(std::holds_alternative<Garbage>(parse_message(line)));
}

struct Pipe {
  Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_NONBLOCK), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends[0]);
    if (ends[1] >= 0) ::close(ends[1]);
  }
  void put(const std::string& text) const {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() { ::close(std::exchange(ends[1], -1)); }
  std::array<int, 2> ends{};
};

TEST(LineReader, PutsLinesTogetherFromPieces) {
  Pipe pipe;
  LineReader reader;
  pipe.put("one\ntw");
  EXPECT_EQ(reader.fill(pipe.ends[0]), LineReader::Status::open);
  EXPECT_EQ(reader.next_line(), "one");
  EXPECT_EQ(reader.next_line(), std::nullopt);
  EXPECT_EQ(reader.fill(pipe.ends[0]), LineReader::Status::open);  // nothing there: does not block
  pipe.put("o\n\nthree");
  pipe.end();
  EXPECT_EQ(reader.fill(pipe.ends[0]), LineReader::Status::open);
  EXPECT_EQ(reader.next_line(), "two");
  EXPECT_EQ(reader.next_line(), "");
  EXPECT_EQ(reader.next_line(), std::nullopt);
  EXPECT_EQ(reader.fill(pipe.ends[0]), LineReader::Status::ended);
}

TEST(LineReader, RefusesEndlessLines) {
  Pipe pipe;
  LineReader reader;
  const std::string piece(60000, 'x');
  LineReader::Status status = LineReader::Status::open;
  for (int i = 0; i < 100 && status == LineReader::Status::open; ++i) {
    pipe.put(piece);
    status = reader.fill(pipe.ends[0]);
    EXPECT_EQ(reader.next_line(), std::nullopt);
  }
  EXPECT_EQ(status, LineReader::Status::too_long);
}

}  // namespace
}  // namespace holdfast
