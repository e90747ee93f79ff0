/* SPDX-License-Identifier: MIT */
/*
 * Vectors of one to four scalars: char1 ... double4, and make_char1() ...
 * Those of two and four are aligned to their size, at most 16 bytes; the
 * others to their scalar. In HIP's form they have a member "data", too.
 */
#ifndef MCR_MC_VECTOR_TYPES_H
#define MCR_MC_VECTOR_TYPES_H

#if defined(__MXCC__) && defined(__MACA__) && defined(__cplusplus)
#define __MC_VECTOR_FN static __attribute__((host, device)) inline
#else
#define __MC_VECTOR_FN static inline
#endif

/* HIP's vectors have constructors, CUDA's are aggregates. The type says how it
 * converts; more scalars than one convert as by a cast. The whole name is given
 * to each, for names without their number may be macros of a program's. */
#if defined(__MC_VECTOR_CONSTRUCTORS__) && defined(__cplusplus)
#if defined(__MXCC__) && defined(__MACA__)
#define __MC_VECTOR_MEMBER __attribute__((host, device)) constexpr
#else
#define __MC_VECTOR_MEMBER constexpr
#endif
#define __MC_VECTOR_MAKERS1(name, type)                                        \
    name() = default;                                                          \
    __MC_VECTOR_MEMBER name(type s) : x(s) {}
#define __MC_VECTOR_MAKERS2(name, type)                                        \
    name() = default;                                                          \
    __MC_VECTOR_MEMBER name(type s) : x(s), y(s) {}                            \
    template <class X, class Y>                                                \
    __MC_VECTOR_MEMBER name(X a, Y b) : x((type)a), y((type)b)                 \
    {                                                                          \
    }
#define __MC_VECTOR_MAKERS3(name, type)                                        \
    name() = default;                                                          \
    __MC_VECTOR_MEMBER name(type s) : x(s), y(s), z(s) {}                      \
    template <class X, class Y, class Z>                                       \
    __MC_VECTOR_MEMBER name(X a, Y b, Z c)                                     \
        : x((type)a), y((type)b), z((type)c)                                   \
    {                                                                          \
    }
#define __MC_VECTOR_MAKERS4(name, type)                                        \
    name() = default;                                                          \
    __MC_VECTOR_MEMBER name(type s) : x(s), y(s), z(s), w(s) {}                \
    template <class X, class Y, class Z, class W>                              \
    __MC_VECTOR_MEMBER name(X a, Y b, Z c, W d)                                \
        : x((type)a), y((type)b), z((type)c), w((type)d)                       \
    {                                                                          \
    }
/* They are also one thing, "data", with an index; a vector of the compiler's
 * where it has such. */
#if defined(__clang__)
#define __MC_VECTOR_DATA(type, n, align)                                       \
    typedef type Native_vec_                                                   \
        __attribute__((ext_vector_type(n), aligned(align)));
#else
#define __MC_VECTOR_DATA(type, n, align) typedef type Native_vec_[n];
#endif
#define __MC_VECTOR_PARTS(type, n, align, ...)                                 \
    __MC_VECTOR_DATA(type, n, align)                                           \
    __extension__ union {                                                      \
        Native_vec_ data;                                                      \
        __extension__ struct {                                                 \
            type __VA_ARGS__;                                                  \
        };                                                                     \
    };
#define __MC_VECTOR_PARTS3(type)                                               \
    __extension__ union {                                                      \
        type data[3];                                                          \
        __extension__ struct {                                                 \
            type x, y, z;                                                      \
        };                                                                     \
    };
#else
#define __MC_VECTOR_PARTS(type, n, align, ...) type __VA_ARGS__;
#define __MC_VECTOR_PARTS3(type) type x, y, z;
#define __MC_VECTOR_MAKERS1(name, type)
#define __MC_VECTOR_MAKERS2(name, type)
#define __MC_VECTOR_MAKERS3(name, type)
#define __MC_VECTOR_MAKERS4(name, type)
#endif

#define __MC_VECTORS(name, type, align2, align4)                               \
    typedef struct name##1 {                                                   \
        __MC_VECTOR_PARTS(type, 1, sizeof(type), x)                            \
        __MC_VECTOR_MAKERS1(name##1, type)                                     \
    } name##1;                                                                 \
    typedef struct __attribute__((aligned(align2))) name##2 {                  \
        __MC_VECTOR_PARTS(type, 2, align2, x, y)                               \
        __MC_VECTOR_MAKERS2(name##2, type)                                     \
    } name##2;                                                                 \
    typedef struct name##3 {                                                   \
        __MC_VECTOR_PARTS3(type)                                               \
        __MC_VECTOR_MAKERS3(name##3, type)                                     \
    } name##3;                                                                 \
    typedef struct __attribute__((aligned(align4))) name##4 {                  \
        __MC_VECTOR_PARTS(type, 4, align4, x, y, z, w)                         \
        __MC_VECTOR_MAKERS4(name##4, type)                                     \
    } name##4;                                                                 \
    __MC_VECTOR_FN name##1 make_##name##1(type x)                              \
    {                                                                          \
        name##1 v = { x };                                                     \
        return v;                                                              \
    }                                                                          \
    __MC_VECTOR_FN name##2 make_##name##2(type x, type y)                      \
    {                                                                          \
        name##2 v = { x, y };                                                  \
        return v;                                                              \
    }                                                                          \
    __MC_VECTOR_FN name##3 make_##name##3(type x, type y, type z)              \
    {                                                                          \
        name##3 v = { x, y, z };                                               \
        return v;                                                              \
    }                                                                          \
    __MC_VECTOR_FN name##4 make_##name##4(type x, type y, type z, type w)      \
    {                                                                          \
        name##4 v = { x, y, z, w };                                            \
        return v;                                                              \
    }

__MC_VECTORS(char, signed char, 2, 4)
__MC_VECTORS(uchar, unsigned char, 2, 4)
__MC_VECTORS(short, short, 4, 8)
__MC_VECTORS(ushort, unsigned short, 4, 8)
__MC_VECTORS(int, int, 8, 16)
__MC_VECTORS(uint, unsigned int, 8, 16)
__MC_VECTORS(long, long, 16, 16)
__MC_VECTORS(ulong, unsigned long, 16, 16)
__MC_VECTORS(longlong, long long, 16, 16)
__MC_VECTORS(ulonglong, unsigned long long, 16, 16)
__MC_VECTORS(float, float, 8, 16)
__MC_VECTORS(double, double, 16, 16)

#undef __MC_VECTORS
#undef __MC_VECTOR_DATA
#undef __MC_VECTOR_PARTS
#undef __MC_VECTOR_PARTS3
#undef __MC_VECTOR_MAKERS1
#undef __MC_VECTOR_MAKERS2
#undef __MC_VECTOR_MAKERS3
#undef __MC_VECTOR_MAKERS4
#undef __MC_VECTOR_MEMBER
#undef __MC_VECTOR_FN

#endif
