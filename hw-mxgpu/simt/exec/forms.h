/* SPDX-License-Identifier: MIT */
/*
 * Forms of x registers (simt/state.h): making one from another. With SIMT_PLAIN
 * the interpreter keeps the wide form only: the other builds are tested against
 * that one.
 */
#ifndef MXGPU_SIMT_EXEC_FORMS_H
#define MXGPU_SIMT_EXEC_FORMS_H

#include "lanes.h"

/* Makes the wide form of a register. */
void widen(MxgpuWarp *w, unsigned r) SIMT_OWN("widen");
/* Makes the word form of a line; false: a lane is no word. */
bool line_to_word(MxgpuWarp *w, unsigned r) SIMT_OWN("line_to_word");
/* Puts the low words of all lanes into tmp, which it returns. */
const uint32_t *truncate_lanes(MxgpuWarp *w, unsigned r, uint32_t *tmp)
    SIMT_OWN("truncate_lanes");
/* Makes c.m64 and c.m32 of the mask. */
void expand_mask(MxgpuWarp *w, uint64_t mask) SIMT_OWN("expand_mask");
/* x[rd] = value for the lanes of w->c.m64, and others that do without it. */
void set_masked(MxgpuWarp *w, unsigned rd, uint64_t value)
    SIMT_OWN("set_masked");

static inline void fill_words(uint32_t *d, uint32_t v)
{
    LANE_LOOP {
        d[i] = v;
    }
}

/* The 64 bits of every lane. */
static inline const uint64_t *wide(MxgpuWarp *w, unsigned r)
{
    if (!(w->form[r] & FORM_WIDE)) {
        widen(w, r);
    }
    return w->x[r];
}

/* The same for a destination of which only some lanes are written next: the
 * wide form is the only valid one then. */
static inline uint64_t *wide_partly(MxgpuWarp *w, unsigned r)
{
    (void)wide(w, r);
    w->form[r] = FORM_WIDE;
    return w->x[r];
}

/* For ops that know only the wide form of x registers, and are followed by
 * simt_wrote_wide(). */
static inline void widen_all(MxgpuWarp *w, const SimtOp *p)
{
    (void)wide(w, p->r1);
    (void)wide(w, p->r2);
    (void)wide(w, p->rd);
}

/* With SIMT_PLAIN: makes the wide form of a register, the only valid one. */
#if defined(SIMT_PLAIN)
#define MATERIALIZE(w, r)                                                      \
    do {                                                                       \
        (void)wide(w, r);                                                      \
        (w)->form[r] = FORM_WIDE;                                              \
    } while (0)
#else
#define MATERIALIZE(w, r) ((void)0)
#endif

static inline void wrote_wide(MxgpuWarp *w, unsigned r)
{
    w->form[r] = FORM_WIDE;
}

static inline void wrote_word(MxgpuWarp *w, unsigned r)
{
    w->form[r] = FORM_WORD;
    MATERIALIZE(w, r);
}

static inline void set_uniform(MxgpuWarp *w, unsigned r, uint64_t value)
{
    simt_set_uniform(w, r, value);
    MATERIALIZE(w, r);
}

static inline void set_line(MxgpuWarp *w, unsigned r, SimtLine line)
{
    simt_set_line(w, r, line);
    MATERIALIZE(w, r);
}

static inline SimtRows rows_of(const MxgpuWarp *w)
{
    return (SimtRows){w->c.row_shift, 0};
}

/* Whether the register has, or can get without loss, the word form. */
static inline bool as_word(MxgpuWarp *w, unsigned r)
{
    return w->form[r] & FORM_WORD ||
           (w->form[r] & FORM_LINE && line_to_word(w, r));
}

/* The low 32 bits of every lane. */
static inline const uint32_t *low_word(MxgpuWarp *w, unsigned r, uint32_t *tmp)
{
    return as_word(w, r) ? w->word[r] : truncate_lanes(w, r, tmp);
}

/* For a destination of which only some lanes are written: whether it can be
 * kept in the word form; it then is. */
static inline bool word_partly(MxgpuWarp *w, unsigned r)
{
    if (!as_word(w, r)) {
        return false;
    }
    w->form[r] = FORM_WORD;
    return true;
}

#endif
