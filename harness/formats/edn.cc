// Jepsen's EDN: a map per event, one after the other or in vectors and lists, over as many lines as they like.
#include <fmt/format.h>

#include "harness/formats/edn_parser.h"
#include "harness/formats/readers.h"

namespace holdfast::formats {

namespace {

class EdnReader {
 public:
  EdnReader(Window& window, HistoryBuilder& builder) : window_(window), builder_(builder) {}

  void read() {
    while (true) {
      EdnParser parser(window_.begin(), window_.end(), window_.ended(), builder_);
      try {
        while (read_one(parser)) window_.go_to(parser.at());
        window_.go_to(window_.end());
        if (!window_.ended() && window_.grow()) continue;
        if (close_ != 0) builder_.truncate();
        return;
      } catch (const EndOfText&) {
        builder_.forget_from(0);
        if (window_.grow()) continue;
        if (!retried_) {  // tokens may end with the text now
          retried_ = true;
          continue;
        }
        builder_.truncate();
        return;
      }
    }
  }

 private:
  bool read_one(EdnParser& parser) {
    const char first = parser.next_form();
    window_.set_event(parser.at());
    if (first == 0) return false;
    if (first == '{') {
      Draft draft;
      parser.event(draft);
      builder_.add(draft);
    } else if (close_ == 0 && (first == '[' || first == '(')) {
      close_ = first == '[' ? ']' : ')';
      parser.step();
    } else if (close_ != 0 && first == close_) {
      close_ = 0;
      parser.step();
    } else {
      throw Complaint(fmt::format("{} where an event should stand; an event is a map like {{:process 0, :type :invoke, "
                                  ":f :read}}",
                                  in_quotes({parser.at(), 1})),
                      parser.at());
    }
    return true;
  }

  Window& window_;
  HistoryBuilder& builder_;
  char close_ = 0;  // the bracket that ends the vector we are in; 0: in none
  bool retried_ = false;
};

}  // namespace

void read_edn(Window& window, HistoryBuilder& builder) {
  EdnReader(window, builder).read();
}

}  // namespace holdfast::formats
