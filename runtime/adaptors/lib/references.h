/* SPDX-License-Identifier: MIT */
/*
 * texture<> and surface<> variables of modules, by CUDA's driver interface. A
 * reference belongs to its module and ends with it. Setting one makes a texture
 * object of all that it was told and puts it into the variable, so that what is
 * launched from then on reads by it; it waits for the device when there was one
 * before. Thread-safe.
 */
#ifndef ADAPTORS_LIB_REFERENCES_H
#define ADAPTORS_LIB_REFERENCES_H

#include <cuda.h>
#include <cuda_runtime_api.h>

cudaError_t adaptor_texture_get(CUtexref *out, CUmodule module,
                                const char *name);
cudaError_t adaptor_surface_get(CUsurfref *out, CUmodule module,
                                const char *name);
/* Before the module is unloaded. */
void adaptor_references_end(CUmodule module);

/* What it reads. offset: from where textures may begin to where data is. */
cudaError_t adaptor_texture_array(CUtexref ref, cudaArray_t array,
                                  unsigned flags);
cudaError_t adaptor_texture_mipmap(CUtexref ref, cudaMipmappedArray_t mipmap,
                                   unsigned flags);
cudaError_t adaptor_texture_linear(size_t *offset, CUtexref ref,
                                   CUdeviceptr data, size_t bytes);
cudaError_t adaptor_texture_rows(CUtexref ref,
                                 const CUDA_ARRAY_DESCRIPTOR *desc,
                                 CUdeviceptr data, size_t pitch);
cudaError_t adaptor_surface_array(CUsurfref ref, cudaArray_t array,
                                  unsigned flags);
cudaError_t adaptor_surface_array_of(cudaArray_t *array, CUsurfref ref);

/* How: each takes a reference, perhaps a dimension, and a value. */
cudaError_t adaptor_texture_format(CUtexref ref, CUarray_format format,
                                   int channels);
cudaError_t adaptor_texture_address(CUtexref ref, int dimension,
                                    CUaddress_mode mode);
cudaError_t adaptor_texture_filter(CUtexref ref, CUfilter_mode mode);
cudaError_t adaptor_texture_flags(CUtexref ref, unsigned flags);
cudaError_t adaptor_texture_anisotropy(CUtexref ref, unsigned most);
cudaError_t adaptor_texture_border(CUtexref ref, const float *colour);
cudaError_t adaptor_texture_level_filter(CUtexref ref, CUfilter_mode mode);
cudaError_t adaptor_texture_level_bias(CUtexref ref, float bias);
cudaError_t adaptor_texture_level_clamp(CUtexref ref, float least, float most);

/* What was set; of resources of another kind cudaErrorInvalidValue. */
const CUDA_TEXTURE_DESC *adaptor_texture_modes(CUtexref ref);
cudaError_t adaptor_texture_format_of(CUarray_format *format, int *channels,
                                      CUtexref ref);
cudaError_t adaptor_texture_array_of(cudaArray_t *array, CUtexref ref);
cudaError_t adaptor_texture_linear_of(CUdeviceptr *data, CUtexref ref);

#endif
