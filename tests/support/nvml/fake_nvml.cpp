// A library in the place of NVML: one GPU on bus 0000:3B:00.0, which draws a watt and is a degree more each time it is
// asked, and whose energy grows by 70 W all the time. FAKE_NVML_LACKS=NAME has it answer "not supported" to that
// function, or fail to start (nvmlInit_v2).

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr int not_found = 6;
int device_of_bus_3b = 0;
unsigned milliwatts = 70'000;
unsigned degrees = 40;

bool lacks(const char* function) {
  const char* const name = std::getenv("FAKE_NVML_LACKS");
  return name != nullptr && std::strcmp(name, function) == 0;
}

int give(const char* function, unsigned* value, unsigned answer) {
  if (lacks(function)) return not_supported;
  *value = answer;
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return lacks("nvmlInit_v2") ? not_supported : success; }
int nvmlShutdown() { return success; }
int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  if (lacks("nvmlSystemGetDriverVersion") || length < 16) return not_supported;
  std::strcpy(text, "999.12.03");
  return success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** handle) {
  if (std::strcmp(bus, "0000:3B:00.0") != 0) return not_found;
  *handle = &device_of_bus_3b;
  return success;
}
const char* nvmlErrorString(int result) { return result == not_supported ? "Not Supported" : "Unknown Error"; }
int nvmlDeviceGetCount_v2(unsigned* count) { return give("nvmlDeviceGetCount_v2", count, 1); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  *handle = &device_of_bus_3b;
  return index == 0 ? success : not_found;
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  if (lacks("nvmlDeviceGetTotalEnergyConsumption")) return not_supported;
  const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
  *millijoules = static_cast<unsigned long long>(70e3 * now.count());
  return success;
}
int nvmlDeviceGetEccMode(void*, unsigned* now, unsigned* pending) {
  *pending = 0;
  return give("nvmlDeviceGetEccMode", now, 1);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) {
  return give("nvmlDeviceGetMaxPcieLinkGeneration", value, 5);
}
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) { return give("nvmlDeviceGetMaxPcieLinkWidth", value, 16); }
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* value) {
  return give("nvmlDeviceGetCurrPcieLinkGeneration", value, 1);
}
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* value) { return give("nvmlDeviceGetCurrPcieLinkWidth", value, 8); }
int nvmlDeviceGetClockInfo(void*, unsigned kind, unsigned* value) {
  if (kind != 1 && kind != 2) return not_supported;
  return give("nvmlDeviceGetClockInfo", value, kind == 1 ? 1410 : 1215);
}
int nvmlDeviceGetTemperature(void*, unsigned sensor, unsigned* value) {
  if (sensor != 0) return not_supported;
  return give("nvmlDeviceGetTemperature", value, degrees++);
}
int nvmlDeviceGetPowerUsage(void*, unsigned* value) {
  return give("nvmlDeviceGetPowerUsage", value, milliwatts += 1000);
}

}  // extern "C"
