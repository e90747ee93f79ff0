/* SPDX-License-Identifier: MIT */
/* Forms of x registers: what is too long to be inline. */
#include "forms.h"

#include "lines.h"

void widen(MxgpuWarp *w, unsigned r)
{
    uint64_t *d = w->x[r];
    const uint32_t *s = w->word[r];
    const SimtLine l = w->line[r];
    const uint64_t low = (1u << w->c.row_shift) - 1;
    const unsigned shift = w->c.row_shift;

    if (w->form[r] & FORM_WORD) {
        LANE_LOOP {
            d[i] = SEXT32(s[i]);
        }
    } else if (w->form[r] & FORM_UNIFORM) {
        LANE_LOOP {
            d[i] = l.base;
        }
    } else if (l.row == l.step << shift) { /* one row as well as many */
        LANE_LOOP {
            d[i] = l.base + i * l.step;
        }
    } else {
        LANE_LOOP {
            d[i] = l.base + ((uint64_t)i & low) * l.step +
                   ((uint64_t)i >> shift) * l.row;
        }
    }
    w->form[r] |= FORM_WIDE;
}

bool line_to_word(MxgpuWarp *w, unsigned r)
{
    const SimtLine l = w->line[r];
    const uint32_t low = (1u << w->c.row_shift) - 1, base = (uint32_t)l.base;
    const uint32_t step = (uint32_t)l.step, row = (uint32_t)l.row;
    const unsigned shift = w->c.row_shift;
    uint32_t *d = w->word[r];

    if (!line_within(rows_of(w), &l, INT32_MIN, INT32_MAX)) {
        return false;
    }
    if (row == step << shift) {
        LANE_LOOP {
            d[i] = base + i * step;
        }
    } else {
        LANE_LOOP {
            d[i] = base + (i & low) * step + (i >> shift) * row;
        }
    }
    w->form[r] |= FORM_WORD;
    return true;
}

const uint32_t *
truncate_lanes(MxgpuWarp *w, unsigned r, uint32_t *tmp)
{
    const uint64_t *s = wide(w, r);

    LANE_LOOP {
        tmp[i] = (uint32_t)s[i];
    }
    return tmp;
}

void expand_mask(MxgpuWarp *w, uint64_t mask)
{
    w->c.expanded = mask;
#if defined(SIMT_AVX512)
    for (unsigned i = 0; i < LANES; i += 8) {
        _mm512_store_si512(w->c.m64 + i, _mm512_movm_epi64(mask >> i));
    }
    for (unsigned i = 0; i < LANES; i += 16) {
        _mm512_store_si512(w->c.m32 + i, _mm512_movm_epi32(mask >> i));
    }
#else
    LANE_LOOP {
        w->c.m64[i] = -(mask >> i & 1);
    }
    LANE_LOOP {
        w->c.m32[i] = (uint32_t)w->c.m64[i];
    }
#endif
}

void set_masked(MxgpuWarp *w, unsigned rd, uint64_t value)
{
    const uint64_t *m = w->c.m64;
    uint64_t *d;

    if (w->c.dead >> rd & 1) {
        set_uniform(w, rd, value);
        return;
    }
    if (value == SEXT32(value) && word_partly(w, rd)) {
        LANE_LOOP {
            w->word[rd][i] =
                SELECT(w->c.m32[i], (uint32_t)value, w->word[rd][i]);
        }
        return;
    }
    d = wide_partly(w, rd);
    LANE_LOOP {
        d[i] = SELECT(m[i], value, d[i]);
    }
}
