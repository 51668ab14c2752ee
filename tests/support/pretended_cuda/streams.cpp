// Streams, each a thread that runs what is queued in order and late, events and kernels.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "pretended.hpp"

using pretended_cuda::fail;

/// What was captured, in order. An executable one has a copy of it.
struct CUgraph_st {
  std::vector<std::function<void()>> work;
};
struct CUgraphExec_st {
  std::vector<std::function<void()>> work;
};

struct CUstream_st {
 public:
  CUstream_st() : thread_([this] { run(); }) {}
  ~CUstream_st() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;
  void put(std::function<void()> work) {
    if (captured_) {
      captured_->work.push_back(std::move(work));
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      queued_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  /// From now on work is captured, until end_capture(). By the thread that queues.
  bool begin_capture() {
    if (captured_) return false;
    captured_ = std::make_unique<CUgraph_st>();
    return true;
  }
  std::unique_ptr<CUgraph_st> end_capture() { return std::move(captured_); }
  [[nodiscard]] bool captures() const { return captured_ != nullptr; }
  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queued_.empty(); });
  }

 private:
  /// What runs stays in front of the queue until it has run.
  void run() {
    std::minstd_rand random(std::random_device{}());
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return ends_ || !queued_.empty(); });
      if (queued_.empty()) return;
      const std::function<void()> work = queued_.front();
      lock.unlock();
      if (const long lag = pretended_cuda::settings().lag_us; lag > 0)
        std::this_thread::sleep_for(std::chrono::microseconds(static_cast<long>(random()) % (lag + 1)));
      work();
      lock.lock();
      queued_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queued_;
  std::unique_ptr<CUgraph_st> captured_;
  bool ends_ = false;
  std::thread thread_;
};

/// How often it was recorded, and how many of these moments have come.
struct CUevent_st {
  std::mutex mutex;
  std::condition_variable changed;
  long recorded = 0;
  long passed = 0;
  std::chrono::steady_clock::time_point time{};
};

namespace pretended_cuda {

namespace {

long launches = 0;  ///< kernels and graphs; counted by the thread that queues
std::mutex streams_mutex;
std::set<CUstream_st*> streams;

/// The stream of calls that name none: no other stream waits for it, since all are non-blocking.
CUstream_st* legacy_stream() {
  static CUstream_st stream;
  return &stream;
}

CUstream_st* stream_or_legacy(cudaStream_t stream) { return stream == nullptr ? legacy_stream() : stream; }

}  // namespace

void enqueue(cudaStream_t stream, std::function<void()> work) { stream_or_legacy(stream)->put(std::move(work)); }

void drain(cudaStream_t stream) {
  if (stream_or_legacy(stream)->captures()) stop("a stream is waited for while it is captured");
  stream_or_legacy(stream)->drain();
}

void drain_all() {
  std::vector<CUstream_st*> all{legacy_stream()};
  {
    const std::lock_guard lock(streams_mutex);
    all.insert(all.end(), streams.begin(), streams.end());
  }
  for (CUstream_st* stream : all) stream->drain();
}

cudaError_t launch(dim3 grid, dim3 block, std::function<void()> thread, cudaStream_t stream) {
  PRETENDED_CALL();
  if (grid.x * grid.y * grid.z == 0 || grid.y > 65535 || block.x * block.y * block.z > 1024)
    return fail(cudaErrorInvalidValue);
  if (!stream_or_legacy(stream)->captures()) ++launches;
  enqueue(stream, [=] {
    gridDim = grid;
    blockDim = block;
    for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
      for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
        for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
          for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z)
            for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
              for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) thread();
  });
  return cudaSuccess;
}

}  // namespace pretended_cuda

extern "C" {

/// Streams that were not destroyed. For tests, which look it up by its name.
std::size_t pretended_cuda_streams();
std::size_t pretended_cuda_streams() {
  const std::lock_guard lock(pretended_cuda::streams_mutex);
  return pretended_cuda::streams.size();
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  PRETENDED_CALL();
  *stream = new CUstream_st;
  const std::lock_guard lock(pretended_cuda::streams_mutex);
  pretended_cuda::streams.insert(*stream);
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  {
    const std::lock_guard lock(pretended_cuda::streams_mutex);
    if (pretended_cuda::streams.erase(stream) == 0) return fail(cudaErrorInvalidResourceHandle);
  }
  stream->drain();
  delete stream;
  return pretended_cuda::count_call();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  PRETENDED_CALL();
  pretended_cuda::drain(stream);
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned /*flags*/) {
  PRETENDED_CALL();
  long recorded = 0;
  {
    const std::lock_guard lock(event->mutex);
    recorded = event->recorded;
  }
  pretended_cuda::enqueue(stream, [event, recorded] {
    std::unique_lock lock(event->mutex);
    event->changed.wait(lock, [&] { return event->passed >= recorded; });
  });
  return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  PRETENDED_CALL();
  *event = new CUevent_st;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  PRETENDED_CALL();
  if (!pretended_cuda::settings().graphs || !stream->begin_capture()) return fail(cudaErrorStreamCaptureUnsupported);
  return cudaSuccess;
}

/// Ends it also where it fails.
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  auto captured = stream->end_capture();
  PRETENDED_CALL();
  if (!captured) return fail(cudaErrorInvalidValue);
  *graph = captured.release();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* launched, cudaGraph_t graph, unsigned long long /*flags*/) {
  PRETENDED_CALL();
  *launched = new CUgraphExec_st{graph->work};
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  PRETENDED_CALL();
  ++pretended_cuda::launches;
  for (const auto& work : graph->work) pretended_cuda::enqueue(stream, work);
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return pretended_cuda::count_call();
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return pretended_cuda::count_call();
}

/// Kernels and graphs that were launched. For tests, which look it up by its name.
long pretended_cuda_launches();
long pretended_cuda_launches() { return pretended_cuda::launches; }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return fail(cudaErrorInvalidResourceHandle);
  pretended_cuda::drain_all();
  delete event;
  return pretended_cuda::count_call();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  PRETENDED_CALL();
  if (stream->captures()) pretended_cuda::stop("an event is recorded while its stream is captured");
  long recorded = 0;
  {
    const std::lock_guard lock(event->mutex);
    recorded = ++event->recorded;
  }
  pretended_cuda::enqueue(stream, [event, recorded] {
    const std::lock_guard lock(event->mutex);
    event->passed = recorded;
    event->time = std::chrono::steady_clock::now();
    event->changed.notify_all();
  });
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  PRETENDED_CALL();
  std::unique_lock lock(event->mutex);
  event->changed.wait(lock, [&] { return event->passed == event->recorded; });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  PRETENDED_CALL();
  const std::lock_guard lock(event->mutex);
  return event->passed == event->recorded ? cudaSuccess : fail(cudaErrorNotReady);
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  PRETENDED_CALL();
  for (const cudaEvent_t event : {begin, end}) {
    const std::lock_guard lock(event->mutex);
    if (event->recorded == 0) return fail(cudaErrorInvalidResourceHandle);
    if (event->passed != event->recorded) return fail(cudaErrorNotReady);
  }
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - begin->time).count();
  return cudaSuccess;
}
}
