/* SPDX-License-Identifier: MIT */
/* Built-in functions of AMD's compiler, and functions on ranges of bits. */
#include <hip/hip_hcc.h>
#include <hip/library_types.h>

#include "program.h"

#define RESULTS 22

__global__ void kernel(unsigned *out)
{
    unsigned lane = __builtin_amdgcn_mbcnt_hi(
        ~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
    unsigned long long on = __builtin_amdgcn_ballot_w64(lane & 1);
    int first = __builtin_amdgcn_readfirstlane((int)lane + 5);
    int other = __builtin_amdgcn_ds_bpermute(4 * (63 - (int)lane), (int)lane);

    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_s_sleep(1);
    if (lane != 40) {
        return;
    }
    unsigned results[RESULTS] = {
        __builtin_amdgcn_workitem_id_x(),
        __builtin_amdgcn_workgroup_id_x(),
        __builtin_amdgcn_workgroup_size_x(),
        __builtin_amdgcn_wavefrontsize(),
        (unsigned)(on >> 32),
        (unsigned)first,
        (unsigned)other,
        __builtin_amdgcn_ubfe(0xabcd1234, 8, 8),
        (unsigned)__builtin_amdgcn_sbfe(0x8000, 8, 8),
        __builtin_amdgcn_alignbit(1, 2, 4),
        __builtin_amdgcn_perm(0x01020304, 0x05060788, 0x0c0d0804),
        __builtin_amdgcn_sad_u8(0x01020304, 0x04030201, 1),
        __bitextract_u32(0xabcd1234, 8, 8),
        (unsigned)__bitextract_u64(0xabcd123400000000, 32, 16),
        __bitinsert_u32(0xffffffff, 0, 4, 8),
        (unsigned)(__bitinsert_u64(0, 0xff, 36, 8) >> 32),
        (unsigned)__builtin_amdgcn_rcpf(0.125f),
        (unsigned)__builtin_amdgcn_fmed3f(3, 9, 5),
        (unsigned)__builtin_amdgcn_sinf(0.25f),
        __bitextract_u32(~0u, 0, 0),
        (unsigned)(__builtin_amdgcn_read_exec() >> 40), // of lane 40 alone
        __builtin_amdgcn_read_exec_lo() + __builtin_amdgcn_read_exec_hi(),
    };
    for (int i = 0; i < RESULTS; i++) {
        out[i] = results[i];
    }
}

int main()
{
    static const unsigned expected[RESULTS] = {
        40, 0, 64, 64, 0xaaaaaaaa, 5, 23, 0x12, 0xffffff80, 0x10000000,
        0x00ff0004, 9, 0x12, 0x1234, 0xfffff00f, 0xff0, 8, 5, 1, 0,
        1, 256,
    };
    unsigned *device = device_new<unsigned>(RESULTS), out[RESULTS];
    int units, physical, clock;

    kernel<<<1, 64>>>(device);
    LAUNCHED();
    CHECK(hipMemcpy(out, device, sizeof(out), hipMemcpyDeviceToHost));
    for (int i = 0; i < RESULTS; i++) {
        if (out[i] != expected[i]) {
            fprintf(stderr, "%d: %x, expected %x\n", i, out[i], expected[i]);
            return 1;
        }
    }
    CHECK(hipDeviceGetAttribute(&units,
                                hipDeviceAttributeMultiprocessorCount, 0));
    CHECK(hipDeviceGetAttribute(
        &physical, hipDeviceAttributePhysicalMultiProcessorCount, 0));
    CHECK(hipDeviceGetAttribute(&clock, hipDeviceAttributeWallClockRate, 0));
    REQUIRE(units == physical && clock > 0);
    REQUIRE(HIP_R_32F == 0 && HIP_R_16BF == 14);
    return passed();
}
