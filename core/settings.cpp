#include "core/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

namespace fourscore {

std::string Setting::option() const {
  std::string text(key);
  std::ranges::replace(text, '_', '-');
  return (is_on_by_default() ? "--no-" : "--") + text;
}

bool Setting::is_on_by_default() const {
  const auto* const flag = std::get_if<bool Settings::*>(&member);
  return flag != nullptr && Settings().*(*flag);
}

bool is_taken(const Setting& setting, bool by_components) {
  return setting.of != (by_components ? SettingOf::transforms : SettingOf::components);
}

std::vector<std::string> setting_options(const Settings& settings, bool of_component) {
  std::vector<std::string> options;
  for (const Setting& setting : all_settings()) {
    if (!is_taken(setting, of_component)) continue;
    const auto add = [&](auto member) {
      const auto& value = settings.*member;
      using Value = std::remove_cvref_t<decltype(value)>;
      constexpr bool is_number = !std::is_same_v<Value, bool> && std::is_arithmetic_v<Value>;
      if (is_number ? value == Value() && setting.least > 0 : value == Settings().*member) return;
      options.push_back(setting.option());
      if constexpr (!std::is_same_v<Value, bool>) options.push_back(fmt::format("{}", value));
    };
    std::visit(add, setting.member);
  }
  return options;
}

nlohmann::json settings_json(const Settings& settings, bool of_component) {
  nlohmann::json said = nlohmann::json::object();
  for (const Setting& setting : all_settings()) {
    if (!is_taken(setting, of_component)) continue;
    const auto say = [&](auto member) {
      const auto& value = settings.*member;
      if constexpr (std::is_same_v<decltype(value), const double&>)
        if (value == 0) return;
      said[std::string(setting.key)] = value;
    };
    std::visit(say, setting.member);
  }
  return said;
}

}  // namespace fourscore
