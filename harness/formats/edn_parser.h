// EdnParser: reads the forms of Clojure's data notation one after the other, straight into values of a history.
//
// Keywords, symbols, characters and strings all become texts (:read is "read"), sets and lists become lists, tags are
// read over (#inst "…" is its text), comments and discarded forms (#_) are blank. Integers beyond 64 bits and ratios
// become the text of their digits. One pass, no allocation besides texts and values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "harness/formats/builder.h"

namespace holdfast::formats {

// The text ended within a form.
struct EndOfText {};

class EdnParser {
 public:
  // `complete`: a token outside of all brackets may end where the text ends; otherwise more of it could follow in the
  // next window.
  EdnParser(const char* begin, const char* end, bool complete, HistoryBuilder& builder)
      : at_(begin), end_(end), complete_(complete), builder_(builder) {}

  [[nodiscard]] const char* at() const { return at_; }
  // The first character of the next form or a closing bracket, tags left behind; 0: the text is over.
  char next_form();
  void step() { ++at_; }  // over the bracket that next_form() saw

  // Each reads one form; next_form() is called by them.
  void event(Draft& draft);                 // a map with the fields of an event; at_ stands at its bracket
  RecordedValue event_value(Draft& draft);  // any form; the member "hold" of a map is the hold of the event
  TextId label();                           // a keyword, string or symbol; kNoText: nil
  void skip();                              // a form that nobody wants
  std::string_view token();                 // up to the next delimiter, as written

 private:
  // One more level of nesting while it lives.
  class Level {
   public:
    explicit Level(EdnParser& parser);
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.depth_; }

   private:
    EdnParser& parser_;
  };

  [[noreturn]] void fail(const std::string& what) const { throw Complaint(what, at_); }
  void skip_blank();
  void skip_tag();
  char require_form();  // like next_form(), where neither the end nor a closing bracket may come
  RecordedValue value();
  RecordedValue collection(char close);
  RecordedValue map(Draft* draft);
  TextId name();
  TextId source_of_form();  // the form as it is written
  RecordedValue text(std::string_view text) { return skipping_ > 0 ? RecordedValue() : builder_.text(text); }
  std::string_view string();  // valid until the next one
  std::string_view escaped_string(const char* from);
  void append_escape(const char*& from);
  std::uint32_t four_digits(const char*& from);
  RecordedValue character();
  RecordedValue atom();
  RecordedValue number(std::string_view digits, const char* from);
  void event_field(std::string_view field, Draft& draft);
  void process_field(Draft& draft);
  void type_field(Draft& draft);
  void time_field(Draft& draft);

  const char* at_;
  const char* end_;
  bool complete_;
  HistoryBuilder& builder_;
  int depth_ = 0;
  int skipping_ = 0;  // > 0: nothing is kept
  std::string unescaped_;
};

}  // namespace holdfast::formats
