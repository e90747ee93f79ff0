/* SPDX-License-Identifier: MIT */
/*
 * The classes of NVTX for C++ that programs use: marks, ranges that end with
 * their scope, domains by types, and what describes them.
 */
#ifndef MCTX_ADAPTOR_NVTX3_HPP
#define MCTX_ADAPTOR_NVTX3_HPP

#include "nvToolsExt.h"

#include <string>
#include <type_traits>
#include <utility>

namespace nvtx3 {
inline namespace v1 {

/* ---- what describes a range or mark */

struct color {
    using value_type = uint32_t;
    explicit constexpr color(value_type argb) noexcept : value(argb) {}
    constexpr value_type get_value() const noexcept { return value; }

private:
    value_type value;
};

struct argb : color {
    constexpr argb(uint8_t a, uint8_t r, uint8_t g, uint8_t b) noexcept
        : color((uint32_t)a << 24 | (uint32_t)r << 16 | (uint32_t)g << 8 | b)
    {
    }
};

struct rgb : argb {
    constexpr rgb(uint8_t r, uint8_t g, uint8_t b) noexcept
        : argb(0xff, r, g, b)
    {
    }
};

struct category {
    using id_type = uint32_t;
    explicit constexpr category(id_type id) noexcept : id(id) {}
    constexpr id_type get_id() const noexcept { return id; }

private:
    id_type id;
};

struct payload {
    explicit payload(int64_t v) noexcept : type(NVTX_PAYLOAD_TYPE_INT64)
    {
        value.llValue = v;
    }
    explicit payload(int32_t v) noexcept : type(NVTX_PAYLOAD_TYPE_INT32)
    {
        value.iValue = v;
    }
    explicit payload(uint64_t v) noexcept
        : type(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64)
    {
        value.ullValue = v;
    }
    explicit payload(uint32_t v) noexcept
        : type(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32)
    {
        value.uiValue = v;
    }
    explicit payload(float v) noexcept : type(NVTX_PAYLOAD_TYPE_FLOAT)
    {
        value.fValue = v;
    }
    explicit payload(double v) noexcept : type(NVTX_PAYLOAD_TYPE_DOUBLE)
    {
        value.dValue = v;
    }

    int32_t type;
    mctxEventAttributes_t::mctxPayload_t value;
};

struct message {
    message(const char *text) noexcept : type(NVTX_MESSAGE_TYPE_ASCII)
    {
        value.ascii = text;
    }
    message(const std::string &text) noexcept : message(text.c_str()) {}
    message(const wchar_t *text) noexcept : type(NVTX_MESSAGE_TYPE_UNICODE)
    {
        value.unicode = text;
    }
    message(const std::wstring &text) noexcept : message(text.c_str()) {}
    message(nvtxStringHandle_t text) noexcept
        : type(NVTX_MESSAGE_TYPE_REGISTERED)
    {
        value.registered = text;
    }

    int32_t type;
    nvtxMessageValue_t value;
};

/* ---- domains: a type with a name, which is made when it is first used */

struct domain {
    struct global {
    };

    template <typename D = global> static const domain &get()
    {
        static const domain it{create<D>()};
        return it;
    }
    operator nvtxDomainHandle_t() const noexcept { return handle; }

private:
    explicit domain(nvtxDomainHandle_t handle) : handle(handle) {}
    template <typename D> static nvtxDomainHandle_t create()
    {
        if constexpr (std::is_same_v<D, global>) {
            return nullptr;
        } else if constexpr (std::is_same_v<
                                 std::decay_t<decltype(*D::name)>, wchar_t>) {
            return nvtxDomainCreateW(D::name);
        } else {
            return nvtxDomainCreateA(D::name);
        }
    }

    nvtxDomainHandle_t handle;
};

template <typename D = domain::global> struct registered_string_in {
    explicit registered_string_in(const char *text)
        : handle(nvtxDomainRegisterStringA(domain::get<D>(), text))
    {
    }
    explicit registered_string_in(const std::string &text)
        : registered_string_in(text.c_str())
    {
    }
    operator nvtxStringHandle_t() const noexcept { return handle; }
    operator message() const noexcept { return message(handle); }
    template <typename M> static const registered_string_in &get()
    {
        static const registered_string_in it{M::message};
        return it;
    }

private:
    nvtxStringHandle_t handle;
};
using registered_string = registered_string_in<>;

template <typename D = domain::global> struct named_category_in : category {
    named_category_in(id_type id, const char *name) noexcept : category(id)
    {
        nvtxDomainNameCategoryA(domain::get<D>(), id, name);
    }
    template <typename C> static const named_category_in &get()
    {
        static const named_category_in it{C::id, C::name};
        return it;
    }
};
using named_category = named_category_in<>;

/* Of several of a kind the first counts. */
struct event_attributes {
    event_attributes() noexcept : it{}
    {
        it.version = NVTX_VERSION;
        it.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    }
    template <typename First, typename... Rest,
              typename = std::enable_if_t<!std::is_same_v<
                  std::decay_t<First>, event_attributes>>>
    explicit event_attributes(const First &first, const Rest &...rest) noexcept
        : event_attributes(rest...)
    {
        set(first);
    }
    const nvtxEventAttributes_t *get() const noexcept { return &it; }

private:
    void set(const color &c) noexcept
    {
        it.colorType = NVTX_COLOR_ARGB;
        it.color = c.get_value();
    }
    void set(const category &c) noexcept { it.category = c.get_id(); }
    void set(const payload &p) noexcept
    {
        it.payloadType = p.type;
        it.payload = p.value;
    }
    void set(const message &m) noexcept
    {
        it.messageType = m.type;
        it.message = m.value;
    }

    nvtxEventAttributes_t it;
};

/* ---- marks and ranges */

template <typename D = domain::global>
inline void mark_in(const event_attributes &what) noexcept
{
    nvtxDomainMarkEx(domain::get<D>(), what.get());
}
template <typename D = domain::global, typename First, typename... Rest,
          typename = std::enable_if_t<
              !std::is_same_v<std::decay_t<First>, event_attributes>>>
inline void mark_in(const First &first, const Rest &...rest) noexcept
{
    mark_in<D>(event_attributes{first, rest...});
}
template <typename... Args> inline void mark(const Args &...args) noexcept
{
    mark_in<domain::global>(args...);
}

template <typename D = domain::global> struct scoped_range_in {
    scoped_range_in() noexcept : scoped_range_in(event_attributes{}) {}
    explicit scoped_range_in(const event_attributes &what) noexcept
    {
        nvtxDomainRangePushEx(domain::get<D>(), what.get());
    }
    template <typename First, typename... Rest,
              typename = std::enable_if_t<
                  !std::is_same_v<std::decay_t<First>, event_attributes>>>
    explicit scoped_range_in(const First &first, const Rest &...rest) noexcept
        : scoped_range_in(event_attributes{first, rest...})
    {
    }
    ~scoped_range_in() { nvtxDomainRangePop(domain::get<D>()); }
    scoped_range_in(const scoped_range_in &) = delete;
    scoped_range_in &operator=(const scoped_range_in &) = delete;
};
using scoped_range = scoped_range_in<>;
template <typename D = domain::global>
using domain_thread_range = scoped_range_in<D>;
using thread_range = scoped_range;

/* One that may be moved, and ended by another thread. */
template <typename D = domain::global> struct unique_range_in {
    explicit unique_range_in(const event_attributes &what) noexcept
        : id(nvtxDomainRangeStartEx(domain::get<D>(), what.get()))
    {
    }
    template <typename First, typename... Rest,
              typename = std::enable_if_t<
                  !std::is_same_v<std::decay_t<First>, event_attributes> &&
                  !std::is_same_v<std::decay_t<First>, unique_range_in>>>
    explicit unique_range_in(const First &first, const Rest &...rest) noexcept
        : unique_range_in(event_attributes{first, rest...})
    {
    }
    unique_range_in(unique_range_in &&other) noexcept
        : id(std::exchange(other.id, 0))
    {
    }
    unique_range_in &operator=(unique_range_in &&other) noexcept
    {
        std::swap(id, other.id);
        return *this;
    }
    ~unique_range_in() { nvtxDomainRangeEnd(domain::get<D>(), id); }

private:
    nvtxRangeId_t id;
};
using unique_range = unique_range_in<>;

} // namespace v1
} // namespace nvtx3

#define NVTX3_JOIN_(a, b) a##b
#define NVTX3_JOIN(a, b)  NVTX3_JOIN_(a, b)
#define NVTX3_SCOPED_RANGE_IN(D, ...)                                          \
    ::nvtx3::scoped_range_in<D> NVTX3_JOIN(nvtx3_range_, __LINE__)             \
    {                                                                          \
        ::nvtx3::event_attributes { __VA_ARGS__ }                              \
    }
#define NVTX3_SCOPED_RANGE(...)                                                \
    NVTX3_SCOPED_RANGE_IN(::nvtx3::domain::global, __VA_ARGS__)
#define NVTX3_FUNC_RANGE_IN(D) NVTX3_SCOPED_RANGE_IN(D, __func__)
#define NVTX3_FUNC_RANGE()     NVTX3_FUNC_RANGE_IN(::nvtx3::domain::global)

#endif
