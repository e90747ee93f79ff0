/* SPDX-License-Identifier: MIT */
/* The public headers alone, as C11 without extensions. */
#include <maca.h>
#include <mcComplex.h>
#include <mc_runtime.h>
#include <mc_runtime_api.h>
#include <mc_runtime_types.h>
#include <mcr/maca.h>
#include <mcr/mc_runtime_api.h>

_Static_assert(mcErrorKernelExecTimeout == 10032, "");
_Static_assert(mcDeviceAttributeUnknow == 84, "");
_Static_assert(sizeof(dim3) == 12, "");

int main(void)
{
    dim3 d = {1, 2, 3};
    mcDeviceProp_t p = {.waveSize = 64};
    void *pointer = 0;
    mcError_t error = mcMalloc(&pointer, 0) == mcSuccess
                          ? mcMallocHost(&pointer, 0, mcMallocHostDefault)
                          : mcSuccess;

    assert(mcCimag(mcCmul(make_mcDoubleComplex(1, 2),
                          make_mcDoubleComplex(3, 4))) == 10);

    mcPitchedPtr pitched = make_mcPitchedPtr(&d, 64, 8, 2);
    mcPos pos = make_mcPos(1, 2, 3);
    mcExtent extent = make_mcExtent(4, 5, 6);

    assert(pitched.ptr == &d && pitched.pitch == 64 && pitched.xsize == 8 &&
           pitched.ysize == 2);
    assert(pos.x == 1 && pos.y == 2 && pos.z == 3);
    assert(extent.width == 4 && extent.height == 5 && extent.depth == 6);
    if (memcmp(&d.x, &extent.width, 0) != 0) {
        printf("%d\n", INT_MAX);
    }
    return d.x != 1 || p.warpSize != 64 || mcGetErrorName(error) == 0;
}
