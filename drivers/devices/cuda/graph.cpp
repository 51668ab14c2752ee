#ifdef FOURSCORE_CUDA

#include "devices/cuda/graph.hpp"

#include <cuda_runtime_api.h>

#include <stdexcept>
#include <utility>

#include "devices/cuda/check.hpp"
#include "devices/cuda/fft.hpp"

namespace fourscore::cuda {

namespace {

class CudaGraph : public DeviceGraph {
 public:
  explicit CudaGraph(cudaGraphExec_t graph) : graph_(graph) {}
  ~CudaGraph() override { (void)succeeded(cudaGraphExecDestroy(graph_)); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;
  void enqueue(Queue& queue) override { FOURSCORE_CUDA_CHECK(cudaGraphLaunch(graph_, stream_of(queue))); }

 private:
  cudaGraphExec_t graph_;
};

/// Null: something cannot be recorded.
cudaGraph_t captured(Queue& queue, const std::function<void(Queue&)>& enqueue) {
  if (!succeeded(cudaStreamBeginCapture(stream_of(queue), cudaStreamCaptureModeThreadLocal))) return nullptr;
  bool queued = true;
  try {
    enqueue(queue);
  } catch (const std::runtime_error&) {
    queued = false;
  }
  cudaGraph_t graph = nullptr;
  if (succeeded(cudaStreamEndCapture(stream_of(queue), &graph)) && queued) return graph;
  if (graph != nullptr) (void)succeeded(cudaGraphDestroy(graph));
  return nullptr;
}

}  // namespace

std::unique_ptr<DeviceGraph> record_graph(Queue& queue, const std::function<void(Queue&)>& enqueue) {
#if CUDART_VERSION >= 11040
  cudaGraph_t graph = captured(queue, enqueue);
  if (graph == nullptr) return nullptr;
  cudaGraphExec_t launched = nullptr;
  const bool made = succeeded(cudaGraphInstantiateWithFlags(&launched, graph, 0));
  (void)succeeded(cudaGraphDestroy(graph));
  return made ? std::make_unique<CudaGraph>(launched) : nullptr;
#else
  (void)queue;
  (void)enqueue;
  return nullptr;
#endif
}

}  // namespace fourscore::cuda

#endif
