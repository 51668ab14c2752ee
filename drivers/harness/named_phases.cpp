#include "harness/named_phases.hpp"

namespace fourscore {

std::string text_of(const std::vector<Component>& components) {
  std::string text;
  for (const Component& component : components) {
    text += static_cast<char>('a' + static_cast<int>(component.phase));
    text += component.name + "\n";
  }
  return text;
}

std::vector<NamedPhase> read_named_phases(const std::string& text) {
  std::vector<NamedPhase> list;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    list.push_back({text.substr(begin + 1, end - begin - 1), static_cast<Phase>(text[begin] - 'a')});
    begin = end + 1;
  }
  return list;
}

}  // namespace fourscore
