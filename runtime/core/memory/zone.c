/* SPDX-License-Identifier: MIT */
#include "zone.h"

#include <inttypes.h>

#include "base/log.h"
#include "image/source.h"

/* Differs from byte to byte, and from what is often written: 0, all ones, small
 * numbers. */
static uint8_t pattern(uint64_t va)
{
    return 0xa0 | (va & 15);
}

void mc_zone_fill(uint8_t *cpu, uint64_t va, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        cpu[i] = pattern(va + i);
    }
}

void mc_zone_look(const uint8_t *cpu, uint64_t va, uint64_t size,
                  McDamage *damage)
{
    for (uint64_t i = 0; i < size; i++) {
        if (__atomic_load_n(&cpu[i], __ATOMIC_RELAXED) == pattern(va + i)) {
            continue;
        }
        damage->first = damage->bytes ? damage->first : va + i;
        damage->last = va + i;
        damage->bytes++;
    }
}

void mc_damage_report(const McDamage *damage, uint64_t va, uint64_t size,
                      const McCaller *caller)
{
    char place[512];

    if (!mc_log_enabled(MC_LOG_ERROR)) {
        return;
    }
    mc_source_caller(caller->address, place, sizeof(place));
    mc_error("overrun of the %" PRIu64 " bytes at 0x%" PRIx64 " from %s%s: %"
             PRIu64 " bytes around it were written, at offsets %" PRId64
             " to %" PRId64,
             size, va, caller->call, place, damage->bytes,
             (int64_t)(damage->first - va), (int64_t)(damage->last - va));
}
