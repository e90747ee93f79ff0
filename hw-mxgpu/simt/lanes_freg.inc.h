/* SPDX-License-Identifier: MIT */
/* f registers, whose lanes are narrow or wide: access to them, loads, stores. */

/* A narrow result: all lanes of the plane, or those of the mask. */
static inline void set_narrow(MxgpuWarp *w, unsigned rd, const uint32_t *v,
                              uint64_t mask)
{
    uint32_t *d = w->f[rd];
    const uint32_t *m = w->c.m32;

    if (mask == ALL_LANES) {
        __builtin_memcpy(d, v, sizeof(w->f[rd]));
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], v[i], d[i]);
        }
    }
    w->narrow[rd] |= mask;
}

MEM_FN x_FLW(MEM_ARGS)
{
    _Alignas(64) uint32_t v[LANES];

    if (mask == ALL_LANES) { /* x registers are not touched: no copy */
        if (!COUNTED(load_lanes_uint32_t(cu, w, p, pc, ALL_LANES, w->f[p->rd]),
                     4)) {
            return false;
        }
        w->narrow[p->rd] = ALL_LANES;
        return true;
    }
    if (!load_uint32_t(cu, w, p, pc, mask, v)) {
        return false;
    }
    set_narrow(w, p->rd, v, mask);
    return true;
}

MEM_FN x_FLH(MEM_ARGS)
{
    _Alignas(64) uint16_t h[LANES];
    _Alignas(64) uint32_t v[LANES];

    if (!load_uint16_t(cu, w, p, pc, mask, h)) {
        return false;
    }
    LANE_LOOP {
        v[i] = 0xffff0000u | h[i];
    }
    set_narrow(w, p->rd, v, mask);
    return true;
}

static inline void set_wide(MxgpuWarp *w, unsigned rd, const uint64_t *v,
                            uint64_t mask)
{
    uint64_t *d = w->d[rd];
    const uint64_t *m = w->c.m64;

    if (mask == ALL_LANES) {
        __builtin_memcpy(d, v, sizeof(w->d[rd]));
    } else {
        LANE_LOOP {
            d[i] = SELECT(m[i], v[i], d[i]);
        }
    }
    w->narrow[rd] &= ~mask;
}

/* The 64 bits of every lane: where the value is narrow, boxed. */
static inline const uint64_t *get_wide(const MxgpuWarp *w, unsigned r,
                                       uint64_t mask, uint64_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (!(narrow & mask)) {
        return w->d[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        tmp[i] = narrow >> i & 1 ? 0xffffffff00000000ull | w->f[r][i]
                                 : w->d[r][i];
    }
    return tmp;
}

/* The low 32 bits of every lane. */
static inline const uint32_t *get_low(const MxgpuWarp *w, unsigned r,
                                      uint64_t mask, uint32_t *tmp)
{
    uint64_t narrow = w->narrow[r];

    if (!(mask & ~narrow)) {
        return w->f[r];
    }
    for (unsigned i = 0; i < LANES; i++) {
        tmp[i] = narrow >> i & 1 ? w->f[r][i] : (uint32_t)w->d[r][i];
    }
    return tmp;
}

MEM_FN x_FLD(MEM_ARGS)
{
    _Alignas(64) uint64_t v[LANES];

    if (!load_uint64_t(cu, w, p, pc, mask, v)) {
        return false;
    }
    set_wide(w, p->rd, v, mask);
    return true;
}

MEM_FN x_FSW(MEM_ARGS)
{
    _Alignas(64) uint32_t tmp[LANES];

    return store_uint32_t(cu, w, p, pc, mask, get_low(w, p->r2, mask, tmp));
}

MEM_FN x_FSH(MEM_ARGS)
{
    _Alignas(64) uint32_t tmp[LANES];
    _Alignas(64) uint16_t v[LANES];
    const uint32_t *s = get_low(w, p->r2, mask, tmp);

    LANE_LOOP {
        v[i] = (uint16_t)s[i];
    }
    return store_uint16_t(cu, w, p, pc, mask, v);
}

MEM_FN x_FSD(MEM_ARGS)
{
    _Alignas(64) uint64_t tmp[LANES];

    return store_uint64_t(cu, w, p, pc, mask, get_wide(w, p->r2, mask, tmp));
}
