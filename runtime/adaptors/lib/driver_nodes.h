/* SPDX-License-Identifier: MIT */
/* Structures of cuda.h as the mc* interface has them, and launches whose
 * arguments are set one by one. */
#ifndef ADAPTORS_LIB_DRIVER_NODES_H
#define ADAPTORS_LIB_DRIVER_NODES_H

#include <cuda.h>
#include <cuda_runtime_api.h>

cudaMemoryType driver_memory_type(CUmemorytype type);
cudaError_t driver_copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, int async);
cudaError_t driver_properties(CUdevprop *prop, CUdevice dev);

/* exec: NULL; a node that is there already. */
cudaError_t driver_add_copy(CUgraphNode *node, CUgraph graph,
                            const CUgraphNode *dependencies, size_t count,
                            const CUDA_MEMCPY3D *p);
cudaError_t driver_set_copy(CUgraphExec exec, CUgraphNode node,
                            const CUDA_MEMCPY3D *p);
cudaError_t driver_add_kernel(CUgraphNode *node, CUgraph graph,
                              const CUgraphNode *dependencies, size_t count,
                              const CUDA_KERNEL_NODE_PARAMS *p);
cudaError_t driver_set_kernel(CUgraphExec exec, CUgraphNode node,
                              const CUDA_KERNEL_NODE_PARAMS *p);
cudaError_t driver_get_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p);
cudaError_t driver_add_set(CUgraphNode *node, CUgraph graph,
                           const CUgraphNode *dependencies, size_t count,
                           const CUDA_MEMSET_NODE_PARAMS *p);
cudaError_t driver_set_set(CUgraphExec exec, CUgraphNode node,
                           const CUDA_MEMSET_NODE_PARAMS *p);
cudaError_t driver_get_set(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *p);

/* The old way to launch: shape and arguments belong to the function. */
cudaError_t driver_shape(CUfunction f, int x, int y, int z);
cudaError_t driver_shared(CUfunction f, unsigned int bytes);
cudaError_t driver_argument_size(CUfunction f, unsigned int bytes);
cudaError_t driver_argument(CUfunction f, int offset, const void *value,
                            unsigned int bytes);
cudaError_t driver_launch(CUfunction f, int width, int height,
                          CUstream stream);

#endif
