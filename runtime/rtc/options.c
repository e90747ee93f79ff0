/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN 200 /* bytes of an option in a message */

typedef struct Option Option;

typedef struct Reader {
    McRtcOptions *out;
    McText *log;
    const char *const *next; /* options that are not read yet */
    int left;
    const char *written; /* the one that is read */
    const Option *option;
} Reader;

/* value: NULL for options without one. */
typedef bool Action(Reader *r, const char *value);

struct Option {
    const char *name; /* without its dashes, of which there are one or two */
    bool takes;
    Action *action;
    const char *word; /* of mxcc; it takes the value where there is one */
};

static bool refuse(Reader *r, const char *why)
{
    mc_text_printf(r->log, "mcrtc: error: %s: '%.*s'\n", why, SHOWN,
                   r->written);
    return false;
}

static bool add_word(Reader *r, const char *first, const char *second)
{
    McRtcOptions *out = r->out;
    char **more = realloc(out->words, (out->count + 2) * sizeof(*more));

    if (more) {
        out->words = more;
        more[out->count] = malloc(strlen(first) + strlen(second) + 1);
    }
    if (!more || !more[out->count]) {
        out->failed = true;
        return false;
    }
    strcpy(more[out->count], first);
    strcat(more[out->count], second);
    more[++out->count] = NULL;
    return true;
}

/* ---- actions ---- */

static bool ignore(Reader *r, const char *value)
{
    return true;
}

static bool pass(Reader *r, const char *value)
{
    return add_word(r, r->option->word, value ? value : "");
}

/* The same as two words. */
static bool pass_apart(Reader *r, const char *value)
{
    return add_word(r, r->option->word, "") && add_word(r, value, "");
}

static bool is_truth(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "false") == 0;
}

static bool truth(Reader *r, const char *value)
{
    if (!is_truth(value)) {
        return refuse(r, "true or false expected");
    }
    return pass(r, value);
}

static bool ignore_truth(Reader *r, const char *value)
{
    return is_truth(value) || refuse(r, "true or false expected");
}

static bool ignore_number(Reader *r, const char *value)
{
    return (*value && !value[strspn(value, "0123456789")]) ||
           refuse(r, "number expected");
}

/* There is one device: what others are called is taken for it. */
static bool architecture(Reader *r, const char *value)
{
    static const char *const starts[] = {"compute_", "sm_", "lto_"};

    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        size_t size = strlen(starts[i]);
        const char *digits = value + size;

        if (strncmp(value, starts[i], size) == 0 && *digits) {
            const char *end = digits + strspn(digits, "0123456789");

            if (end != digits && (!*end || ((*end == 'a' || *end == 'f') &&
                                            !end[1]))) {
                return true;
            }
        }
    }
    if (strcmp(value, "native") == 0 || strncmp(value, "xcore", 5) == 0 ||
        strcmp(value, "riscv64-mxgpu") == 0 || /* the device's mxArchName */
        (strncmp(value, "gfx", 3) == 0 && value[3])) {
        return true;
    }
    return refuse(r, "no such device");
}

static bool relocatable(Reader *r, const char *value)
{
    if (value && !is_truth(value)) {
        return refuse(r, "true or false expected");
    }
    r->out->relocatable = !value || strcmp(value, "true") == 0;
    return true;
}

static bool whole(Reader *r, const char *value)
{
    r->out->relocatable = false;
    return true;
}

static bool default_device(Reader *r, const char *value)
{
    r->out->default_device = true;
    return true;
}

static bool no_source_folder(Reader *r, const char *value)
{
    r->out->no_source_folder = true;
    return true;
}

/* The device's headers begin at C++11. */
static bool standard(Reader *r, const char *value)
{
    bool old = strcmp(value, "c++03") == 0 || strcmp(value, "c++98") == 0 ||
               strcmp(value, "gnu++98") == 0 || strcmp(value, "gnu++03") == 0;

    if (!strstr(value, "++")) {
        return refuse(r, "no such dialect of C++");
    }
    return add_word(r, "-std=", old ? "c++11" : value);
}

static bool optimise(Reader *r, const char *value)
{
    return strcmp(value, "on") == 0 ? add_word(r, "-dopt=on", "")
                                    : refuse(r, "on expected");
}

/* ---- the table ---- */

static const Option table[] = {
    {"gpu-architecture", true, architecture},
    {"arch", true, architecture},
    {"offload-arch", true, architecture},
    {"device-c", false, relocatable},
    {"dc", false, relocatable},
    {"fgpu-rdc", false, relocatable},
    {"dlink-time-opt", false, relocatable},
    {"dlto", false, relocatable},
    {"relocatable-device-code", true, relocatable},
    {"rdc", true, relocatable},
    {"device-w", false, whole},
    {"dw", false, whole},
    {"fno-gpu-rdc", false, whole},
    {"extensible-whole-program", false, whole},
    {"ewp", false, whole},
    {"device-debug", false, pass, "-G"},
    {"G", false, pass, "-G"},
    {"generate-line-info", false, pass, "-lineinfo"},
    {"lineinfo", false, pass, "-lineinfo"},
    {"dopt", true, optimise},
    {"Ofast-compile", true, ignore},
    {"Ofc", true, ignore},
    {"ptxas-options", true, pass, "-Xptxas="},
    {"Xptxas", true, pass, "-Xptxas="},
    {"maxrregcount", true, ignore_number},
    {"ftz", true, truth, "-ftz="},
    {"prec-sqrt", true, truth, "-prec-sqrt="},
    {"prec-div", true, truth, "-prec-div="},
    {"fmad", true, truth, "-fmad="},
    {"use_fast_math", false, pass, "-use_fast_math"},
    {"use-fast-math", false, pass, "-use_fast_math"},
    {"extra-device-vectorization", false, ignore},
    {"modify-stack-limit", true, ignore_truth},
    {"device-int128", false, ignore},
    {"split-compile", true, ignore_number},
    {"minimal", false, ignore},
    {"define-macro", true, pass, "-D"},
    {"D", true, pass, "-D"},
    {"undefine-macro", true, pass, "-U"},
    {"U", true, pass, "-U"},
    {"include-path", true, pass, "-I"},
    {"I", true, pass, "-I"},
    {"isystem", true, pass_apart, "-isystem"},
    {"pre-include", true, pass_apart, "-include"},
    {"include", true, pass_apart, "-include"},
    {"no-source-include", false, no_source_folder},
    {"std", true, standard},
    {"builtin-move-forward", true, ignore_truth},
    {"builtin-initializer-list", true, ignore_truth},
    {"device-as-default-execution-space", false, default_device},
    {"default-device", false, default_device},
    {"disable-warnings", false, pass, "-w"},
    {"w", false, pass, "-w"},
    {"restrict", false, ignore},
    {"extended-lambda", false, ignore},
    {"optimization-info", true, ignore},
    {"opt-info", true, ignore},
    {"version-ident", true, ignore_truth},
    {"dQ", true, ignore_truth},
    {"display-error-number", false, ignore},
    {"err-no", false, ignore},
    {"no-display-error-number", false, ignore},
    {"no-err-no", false, ignore},
    {"diag-error", true, ignore},
    {"diag-suppress", true, ignore},
    {"diag-warn", true, ignore},
    {"brief-diagnostics", true, ignore_truth},
    {"brief-diag", true, ignore_truth},
    {"mllvm", true, pass_apart, "-mllvm"},
    {"default-stream", true, ignore},
};

static const Option *find(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (strlen(table[i].name) == size &&
            strncmp(table[i].name, name, size) == 0) {
            return &table[i];
        }
    }
    return NULL;
}

/* ---- reading ---- */

/* Those of clang that change warnings, optimisation and the language, and
 * nothing of what is made or where. */
static bool is_clang(const char *name)
{
    static const char *const kinds[] = {"O", "W", "f", "g", "pedantic"};
    static const char *const others[] = {
        "Wa,", "Wl,", "Wp,", "fplugin", "fpass-plugin", "fsyntax-only",
        "fmodule", "fprofile", "fsanitize", "fcoverage", "ftime-", "fsave-",
        "fopenmp", "fproc-stat", "fdepfile", "femit", "fcrash", "fdump",
        "fembed", "frecord", "flto", "fno-lto", "ftrain",
    };
    bool found = false;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        found |= strncmp(name, kinds[i], strlen(kinds[i])) == 0;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        found &= strncmp(name, others[i], strlen(others[i])) != 0;
    }
    return found;
}

/* value: what is written with the option; NULL: nothing. */
static bool apply(Reader *r, const Option *option, const char *value)
{
    r->option = option;
    if (!option->takes) {
        return value ? refuse(r, "option takes no value")
                     : option->action(r, NULL);
    }
    if (!value && r->left) {
        value = *r->next++;
        r->left--;
    }
    if (!value || !*value) {
        return refuse(r, "option needs a value");
    }
    return option->action(r, value);
}

/* What follows a name in the same string. */
static const char *joined(const char *rest)
{
    rest += strspn(rest, " ");
    rest += *rest == '=';
    return rest;
}

static bool read_one(Reader *r)
{
    const char *written = *r->next++;

    r->left--;
    r->written = written ? written : "";
    size_t dashes = strspn(r->written, "-");
    const char *name = r->written + dashes;
    if (dashes < 1 || dashes > 2 || !*name) {
        return refuse(r, "unrecognized option");
    }
    size_t size = strcspn(name, "= ");
    const Option *option = find(name, size);
    if (option && (dashes == 1 || size > 1)) {
        return apply(r, option, name[size] ? joined(name + size) : NULL);
    }
    if (dashes == 1) {
        option = strchr("DUI", *name) ? find(name, 1) : NULL;
        if (option) {
            return apply(r, option, name + 1);
        }
        if (is_clang(name)) {
            return add_word(r, r->written, "");
        }
    }
    return refuse(r, "unrecognized option");
}

bool mc_rtc_options_read(McRtcOptions *out, int count,
                         const char *const *options, McText *log)
{
    Reader r = {.out = out, .log = log, .next = options, .left = count};

    *out = (McRtcOptions){0};
    while (r.left > 0) {
        if (!read_one(&r)) {
            return false;
        }
    }
    return true;
}

void mc_rtc_options_free(McRtcOptions *options)
{
    for (size_t i = 0; i < options->count; i++) {
        free(options->words[i]);
    }
    free(options->words);
}
