/* SPDX-License-Identifier: MIT */
/* What warps that enter compiled code by themselves and those of convoys share:
 * whether there is code, registers as it reads them, and how warps leave. */
#include "jit_entry.h"

#if defined(SIMT_AVX512)

#include "forms.h"
#include "lines.h"
#include "loop.h"

/* x registers that have the form. */
static uint32_t having(const MxgpuWarp *w, int form)
{
    return _mm256_test_epi8_mask(_mm256_loadu_si256((const void *)w->form),
                                 _mm256_set1_epi8((char)form));
}

static bool are_words(const MxgpuWarp *w, uint32_t uniform)
{
    uint64_t far = 0;

    for (; uniform; uniform &= uniform - 1) {
        far |= w->line[__builtin_ctz(uniform)].base + (1ull << 31);
    }
    return !(far >> 32);
}

/* Of what came in as a line when the code was asked for it knows the step. */
static bool same_steps(const JitCode *c, const MxgpuWarp *w, uint32_t lines)
{
    uint64_t differ = 0;

    for (; lines; lines &= lines - 1) {
        unsigned r = __builtin_ctz(lines);

        differ |= w->line[r].step ^ (uint64_t)c->step[r];
    }
    return !differ;
}

/* Whether the base and steps of all these lines are so small that no sum of them
 * leaves the range of words; few lines are not: addresses of shared memory. */
static bool are_near(const MxgpuWarp *w, uint32_t lines)
{
    const __m256i half = _mm256_set_epi64x(1 << 22, 1 << 22, 1 << 22, 1 << 30);
    const __m256i all = _mm256_add_epi64(half, half);
    __m256i any = _mm256_setzero_si256();

    for (; lines; lines &= lines - 1) {
        __m256i v =
            _mm256_loadu_si256((const void *)&w->line[__builtin_ctz(lines)]);

        any = _mm256_or_si256(any, _mm256_add_epi64(v, half));
    }
    return _mm256_cmplt_epu64_mask(any, all) == 15; /* bits that one has */
}

static bool are_line_words(const MxgpuWarp *w, uint32_t lines)
{
    bool within = true;

    if (are_near(w, lines)) {
        return true;
    }
    for (; within && lines; lines &= lines - 1) {
        within = line_within(rows_of(w), &w->line[__builtin_ctz(lines)],
                             INT32_MIN, INT32_MAX);
    }
    return within;
}

/* Makes forms of x registers, all of which can be made but words of what is wide. */
static bool make_forms(MxgpuWarp *w, uint32_t words, uint32_t wides)
{
    for (; words; words &= words - 1) {
        if (!as_word(w, __builtin_ctz(words))) {
            return false;
        }
    }
    for (; wides; wides &= wides - 1) {
        (void)wide(w, __builtin_ctz(wides));
    }
    return true;
}

/* Most have them: what is looked at in turn is what has not. */
bool jit_ready_x(const JitRegion *region, MxgpuWarp *w, const JitNeeds *needs)
{
    return !(needs->uniform & ~having(w, FORM_UNIFORM)) &&
           !(needs->lines & ~having(w, FORM_LINE)) &&
           are_words(w, needs->uniform_words) &&
           same_steps(&region->code, w, needs->lines) &&
           are_line_words(w, needs->line_words) &&
           make_forms(w, needs->words & ~having(w, FORM_WORD),
                      needs->wide & ~having(w, FORM_WIDE));
}

bool jit_ready_f(const MxgpuWarp *w, const uint32_t needed[2], uint64_t lanes)
{
    for (uint32_t m = needed[0]; m; m &= m - 1) {
        if (lanes & ~w->narrow[__builtin_ctz(m)]) {
            return false;
        }
    }
    for (uint32_t m = needed[1]; m; m &= m - 1) {
        if (lanes & w->narrow[__builtin_ctz(m)]) {
            return false;
        }
    }
    return true;
}

/* Lanes that the code has left are ready where it left them. */
static void park_all(MxgpuWarp *w, const JitRegion *r, const JitFrame *f,
                     int32_t depth)
{
    for (unsigned i = 0; i < r->code.num_blocks; i++) {
        uint64_t stamp =
            f->pend[i] == f->came[i] ? f->stamp[i] : w->s.stamps;

        if (f->pend[i]) {
            mxgpu_warp_park(w, &(SimtGroup){r->page + r->code.blocks[i].at,
                                            f->pend[i], stamp, depth});
        }
    }
}

JitGo jit_left(MxgpuWarp *w, const JitRegion *r, const JitFrame *f,
                  JitLeave how)
{
    int32_t depth = w->s.cur.depth;

    w->s.cur.mask = 0;
    park_all(w, r, f, depth);
    if (how == JIT_FAULTED) {
        w->s.cur = (SimtGroup){r->page + f->fault_at, f->fault_mask,
                               ++w->s.stamps, depth};
        return JIT_FAULT;
    }
    if (how == JIT_BAILED) {
        mxgpu_warp_park(w, &(SimtGroup){r->page + f->fault_at, f->fault_mask,
                                        w->s.stamps, depth});
    }
    mxgpu_warp_pick(w, false);
    w->s.slice_end =
        w->s.cur.mask == w->s.live || f->slice == UINT64_MAX ? 0 : f->slice;
    return JIT_ON;
}

/* Going in and out costs as much as interpreting some instructions, of convoys fewer:
 * code that leaves sooner is not entered any more. */
void jit_weigh(SimtHead *head, uint64_t instructions, unsigned entries,
                  unsigned worth)
{
    head->ran += instructions;
    if (++head->entries < entries) {
        return;
    }
    if (head->ran < (uint64_t)entries * worth) {
        head->refused = true;
        head->ready = false;
    }
    head->entries = 0;
    head->ran = 0;
}

/* Looks whether what was asked for is there. */
static bool came(MxgpuCu *cu, SimtHead *head)
{
    JitRegion *r = head->region;
    int state = atomic_load_explicit(&r->made[JIT_FOR_ALL].state, memory_order_acquire);

    if (jit_is_hot(cu, head) &&
        !atomic_load_explicit(&r->hot, memory_order_relaxed)) {
        mxgpu_jit_want(cu->simt->jit, r);
        state = atomic_load_explicit(&r->made[JIT_FOR_ALL].state, memory_order_acquire);
    }
    head->refused = state == JIT_REFUSED;
    head->ready = state == JIT_READY;
    if (head->ready) { /* it has been hot, here or elsewhere */
        head->rounds = cu->simt->jit_rounds;
    }
    return head->ready;
}

bool jit_may_begin(MxgpuCu *cu, SimtHead *head)
{
    return head->ready ||
           (head->region && !head->refused && came(cu, head));
}

/* What is on the disk is soon there: so many looks for one. */
#define EARLY 8

static bool is_early(const MxgpuSimt *simt, SimtHead *head)
{
    const JitRegion *r = head->region;

    if (!r || simt->jit_patience < EARLY ||
        atomic_load_explicit(&r->made[JIT_FOR_ALL].state,
                             memory_order_relaxed) != JIT_QUEUED) {
        return false;
    }
    head->count = simt->jit_first - simt->jit_patience / EARLY;
    head->early = (head->early + 1) % EARLY;
    return head->early;
}

void jit_count_round(const MxgpuCu *cu, SimtHead *head)
{
    if (head->ready) {
        return;
    }
    head->count = cu->simt->jit_first - cu->simt->jit_patience;
    if (is_early(cu->simt, head) || jit_is_hot(cu, head)) {
        return;
    }
    head->rounds++;
    if (head->region) {
        atomic_fetch_add_explicit(&head->region->rounds, 1,
                                  memory_order_relaxed);
    }
}

#endif
