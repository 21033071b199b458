#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/error.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

RecordedHistory read(const std::string& text, bool tuple_keys = false) {
  return read_recorded_text(text, "h.edn", {.format = Format::edn, .tuple_keys = tuple_keys});
}

std::string complaint(const std::string& text) {
  try {
    static_cast<void>(read(text));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no complaint";
}

// The value of an event that is written like this, as JSON.
std::string value(const std::string& written) {
  const RecordedHistory history = read("{:process 0, :type :invoke, :f :x, :value " + written + "}");
  return history.describe(history[0].value);
}
std::string value_complaint(const std::string& written) {
  return complaint("\n{:process 0, :type :invoke, :f :x, :value\n" + written + "}");
}

TEST(Edn, FieldsArriveWhereTheyBelong) {
  const RecordedHistory history = read(
      "{:process 0, :type :invoke, :f :append, :key \"7\", :value \"x 0 4 y\"}\n"
      "{:index 1 :time 12 :error [:timeout \"n1\"] :f :append :process 0 :type :info :value nil :unknown {:a #{1}}}\n"
      "{:process 4, :type :invoke, :f :acquire, :value {:hold 9, :lease_ms 600}, :key :L1, :time 13N}\n"
      "{:process 4, :type :fail, :f :acquire, :error :busy, :key 17, :time nil}\n");
  ASSERT_EQ(history.size(), 4U);
  EXPECT_EQ(history.operations, 2U);
  EXPECT_EQ(history.text(history[0].f), "append");
  EXPECT_EQ(history.text(history[0].key), "7");
  EXPECT_EQ(history.describe(history[0].value), "\"x 0 4 y\"");
  EXPECT_EQ(history[0].time, kNoTime);
  EXPECT_EQ(history[1].type, EventType::info);
  EXPECT_EQ(history[1].time, 12);
  EXPECT_EQ(history.text(history[1].error), "[:timeout \"n1\"]");
  EXPECT_EQ(history[2].process, 4);
  EXPECT_EQ(history[2].hold, 9U);
  EXPECT_EQ(history.lease_ms(history[2]), 600);
  EXPECT_EQ(history.text(history[2].key), "L1");
  EXPECT_EQ(history[2].time, 13);
  EXPECT_EQ(history.text(history[3].error), "busy");
  EXPECT_EQ(history.text(history[3].key), "17");
  EXPECT_FALSE(history.timed);
}

TEST(Edn, VectorsListsAndLinesAreTheSame) {
  const std::string first = "{:process 1, :type :invoke, :f :read, :value nil}";
  const std::string second = "{:process 1, :type :ok, :f :read, :value 3}";
  const std::vector<std::string> texts = {
      first + "\n" + second + "\n",
      first + second,
      "[" + first + "\n " + second + "]\n",
      "(" + first + ", " + second + ")",
      "; a comment {\n[" + first + " ; another ]\n" + second + "]",
      "#jepsen.history/History [#jepsen.history.Op" + first + " #jepsen.history.Op " + second + "]",
      "[" + first + " #_ {:process 9 #_ 8} " + second + " #_#_ 1 2 ]",
      "[" + first + "\r\n" + second + "\r\n]\r\n",
      "[" + first + "][" + second + "]"};
  for (const std::string& text : texts) {
    const RecordedHistory history = read(text);
    ASSERT_EQ(history.size(), 2U) << text;
    EXPECT_EQ(history[1].type, EventType::ok) << text;
    EXPECT_EQ(history.describe(history[1].value), "3") << text;
    EXPECT_FALSE(history.truncated) << text;
  }
  EXPECT_EQ(read("[]").size(), 0U);
}

TEST(Edn, EveryKindOfForm) {
  EXPECT_EQ(value("nil"), "null");
  EXPECT_EQ(value("true"), "true");
  EXPECT_EQ(value("false"), "false");
  EXPECT_EQ(value("-12"), "-12");
  EXPECT_EQ(value("+12"), "12");
  EXPECT_EQ(value("12N"), "12");
  EXPECT_EQ(value("123456789012345678901234567890N"), "\"123456789012345678901234567890\"");
  EXPECT_EQ(value("1.5"), "1.5");
  EXPECT_EQ(value("-2.5e3"), "-2500");
  EXPECT_EQ(value("1.5M"), "1.5");
  EXPECT_EQ(value("1/2"), "\"1/2\"");
  EXPECT_EQ(value("##Inf"), "\"inf\"");
  EXPECT_EQ(value(":keyword"), "\"keyword\"");
  EXPECT_EQ(value(":name.space/keyword"), "\"name.space/keyword\"");
  EXPECT_EQ(value("symbol"), "\"symbol\"");
  EXPECT_EQ(value("-"), "\"-\"");
  EXPECT_EQ(value("\"plain\""), "\"plain\"");
  EXPECT_EQ(value("\"\""), "\"\"");
  EXPECT_EQ(value(R"("\t\n\\\"\u00e4\ud83d\ude00")"), "\"\\t\\n\\\\\\\"ä😀\"");
  EXPECT_EQ(value("\"two\nlines\""), R"("two\nlines")");
  EXPECT_EQ(value("[\\a \\newline \\space \\u0041 \\( \\ü]"), R"(["a","\n"," ","A","(","ü"])");
  EXPECT_EQ(value("[1 2]"), "[1,2]");
  EXPECT_EQ(value("(1, 2, 3)"), "[1,2,3]");
  EXPECT_EQ(value("#{1 :a}"), "[1,\"a\"]");
  EXPECT_EQ(value("[[:read :x nil] [:write :y 2]]"), R"([["read","x",null],["write","y",2]])");
  EXPECT_EQ(value("{:a 1, \"b\" [], 3 {}, [4] nil}"), R"({"a":1,"b":[],"3":{},"[4]":null})");
  EXPECT_EQ(value("#inst \"2020-01-01\""), "\"2020-01-01\"");
  EXPECT_EQ(value("#:ns{:a 1}"), "{\"a\":1}");
  EXPECT_EQ(value("#_ 1 2"), "2");
  EXPECT_EQ(value("[1 #_ 2 ; 3\n 4]"), "[1,4]");
}

TEST(Edn, ProcessesWithoutNumbersAreKeptOut) {
  const RecordedHistory history = read(
      "{:process :nemesis, :type :info, :f :kill, :value nil}{:process \"x\"}{:process nil :type :ok}"
      "{:process 3 :type :invoke :f :read}");
  EXPECT_EQ(history.size(), 1U);
  EXPECT_EQ(history.kept_out, 3U);
  EXPECT_EQ(history.ordinal(0), 3U);
}

TEST(Edn, NotesAreOnlyOurOwn) {
  EXPECT_FALSE(read("{:process 3 :type :invoke :f :step}")[0].note) << "an operation of somebody else";
}

TEST(Edn, TupleKeys) {
  const RecordedHistory history = read(
      "{:process 0 :type :invoke :f :cas :value [:x [1 2]]} {:process 0 :type :ok :f :cas :value [:x [1 2]]}"
      "{:process 0 :type :invoke :f :acquire :value [12 {:hold 3 :token 4}]} {:process 0 :type :info :f :acquire}",
      true);
  EXPECT_EQ(history.text(history[0].key), "x");
  EXPECT_EQ(history.describe(history[1].value), "[1,2]");
  EXPECT_EQ(history.text(history[2].key), "12");
  EXPECT_EQ(history[2].hold, 3U);
  EXPECT_EQ(history.token(history[2]), 4);
}

TEST(Edn, ComplaintsNameLineColumnAndFix) {
  EXPECT_EQ(complaint("{:process 0 :type :invoke :f :read}\n  hello"),
            "h.edn line 2 column 3: \"h\" where an event should stand; an event is a map like {:process 0, :type "
            ":invoke, :f :read}");
  EXPECT_THAT(complaint("[[{:process 0}]]"), StartsWith("h.edn line 1 column 2: \"[\" where an event should stand"));
  EXPECT_THAT(complaint("{:process 0 :type :invoke :f :x}]"), StartsWith("h.edn line 1 column 33: \"]\" where"));
  EXPECT_EQ(complaint("{:process 0 :type :maybe}"),
            "h.edn line 1 column 19: :type is \":maybe\"; it must be :invoke, :ok, :fail or :info");
  EXPECT_EQ(complaint("{:process 0 :type 7}"),
            "h.edn line 1 column 19: :type is \"7\"; it must be :invoke, :ok, :fail or :info");
  EXPECT_EQ(complaint("{:process 1.5}"),
            "h.edn line 1 column 11: process \"1.5\"; number the processes from 0 to 2147483647");
  EXPECT_THAT(complaint("{:process -1}"), HasSubstr("line 1 column 1: process -1; number the processes"));
  EXPECT_EQ(complaint("{:process 1 :time 1.5}"),
            "h.edn line 1 column 19: :time is \"1.5\"; it must be nanoseconds, a whole number below 2^63");
  EXPECT_EQ(complaint("{:type :ok}"), "h.edn line 1 column 1: :process is missing; every event needs its process");
  EXPECT_EQ(complaint("{:process 1 :type :ok :f nil}"),
            "h.edn line 1 column 1: :f is missing; every event needs its function");
  EXPECT_EQ(
      complaint("{:process 1 :type :ok :f :x}"),
      "h.edn line 1 column 1: process 1 completes \"x\", which it has not invoked; a completion needs its invocation");
  EXPECT_EQ(complaint("{:process 1 :type}"),
            "h.edn line 1 column 18: a \"}\" where a value should stand; a name or a #_ lacks what belongs to it");
}

TEST(Edn, WrongFormsAreRefusedWhereTheyStand) {
  EXPECT_EQ(value_complaint("12x"), "h.edn line 3 column 1: \"12x\" is no number; put it in quotes if it is a text");
  EXPECT_EQ(value_complaint("1.5N"), "h.edn line 3 column 1: \"1.5N\" is no number; put it in quotes if it is a text");
  EXPECT_EQ(value_complaint("[1 2)"),
            "h.edn line 3 column 5: a \")\" where a value should stand; a name or a #_ lacks what belongs to it");
  EXPECT_EQ(value_complaint(":"), "h.edn line 3 column 1: a keyword without a name; this is no EDN");
  EXPECT_EQ(value_complaint("{: 1}"), "h.edn line 3 column 2: a keyword without a name; this is no EDN");
  EXPECT_EQ(value_complaint(R"("a\q")"),
            R"(h.edn line 3 column 3: "\q" is no escape in a string; write \\ for a backslash)");
  EXPECT_EQ(value_complaint(R"("\u12g4")"), R"(h.edn line 3 column 4: \u needs four hexadecimal digits)");
  EXPECT_EQ(value_complaint(R"("\ud800 ")"),
            "h.edn line 3 column 2: half of a surrogate pair; write the character itself");
  EXPECT_EQ(value_complaint("\\foo"),
            R"(h.edn line 3 column 1: "foo" is no character; known are \c, \newline, \uXXXX and the like)");
  EXPECT_EQ(value_complaint("##Big"), "h.edn line 3 column 1: \"##Big\" is unknown; there are ##Inf, ##-Inf and ##NaN");
  EXPECT_EQ(value_complaint("# 1"), "h.edn line 3 column 1: a # with nothing behind it; #{…}, #_ and #tag are known");
  EXPECT_EQ(value_complaint("[#a]"), "h.edn line 3 column 4: a tag with nothing behind it; delete the tag");
  EXPECT_EQ(value_complaint("\"\xC3(\""),
            "h.edn line 3 column 2: bytes that are not UTF-8; convert the file with iconv");
  EXPECT_EQ(value_complaint(":a\xFF"), "h.edn line 3 column 1: bytes that are not UTF-8; convert the file with iconv");
  EXPECT_EQ(value_complaint(std::string("\0", 1)),
            "h.edn line 3 column 1: a byte that is 0; the file is damaged here or no text, fetch it again");
}

TEST(Edn, DepthIsLimited) {
  EXPECT_EQ(value_complaint(std::string(199, '[') + std::string(199, ']')), "no complaint");
  EXPECT_EQ(value_complaint(std::string(200, '[') + std::string(200, ']')),
            "h.edn line 3 column 200: nested deeper than 200 levels; no operation needs that");
  EXPECT_THAT(value_complaint(std::string(100'000, '{')), HasSubstr("nested deeper"));
  std::string discards;
  for (int i = 0; i < 100'000; ++i) discards += "#_ ";
  EXPECT_THAT(value_complaint(discards), HasSubstr("nested deeper"));
  std::string tags;
  for (int i = 0; i < 100'000; ++i) tags += "#a ";
  EXPECT_EQ(value(tags + "1"), "1") << "tags do not nest";
}

TEST(Edn, ACutIsReported) {
  const std::string first = "{:process 1, :type :invoke, :f :read, :value nil}\n";
  for (const std::string rest :
       {"{", "{:process", "{:process 1, :type :ok, :f :read, :value \"a", "#jepsen.hi", "#_ {:a"}) {
    const RecordedHistory lines = read(first + rest);
    EXPECT_TRUE(lines.truncated) << rest;
    EXPECT_EQ(lines.size(), 1U) << rest;
    EXPECT_TRUE(read("[" + first + rest).truncated) << rest;
  }
  EXPECT_TRUE(read("[" + first).truncated) << "the closing bracket is gone, and perhaps more";
  EXPECT_FALSE(read(first + "; a comm").truncated);
}

}  // namespace
}  // namespace holdfast::formats
