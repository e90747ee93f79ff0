/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_NAME "default_program"

static pthread_mutex_t programs_lock = PTHREAD_MUTEX_INITIALIZER;
static McRtcProgram *programs;

/* ---- life ---- */

static void destroy(McRtcProgram *program)
{
    for (size_t i = 0; i < program->header_count; i++) {
        free(program->headers[i].name);
        free(program->headers[i].text);
    }
    for (size_t i = 0; i < program->name_count; i++) {
        free(program->names[i].expression);
        free(program->names[i].lowered);
    }
    free(program->headers);
    free(program->names);
    free(program->name);
    free(program->source);
    free(program->log);
    free(program->code);
    pthread_mutex_destroy(&program->lock);
    free(program);
}

static bool copy_headers(McRtcProgram *program, const char *const *headers,
                         const char *const *names, size_t count)
{
    program->headers = calloc(count + 1, sizeof(*program->headers));
    if (!program->headers) {
        return false;
    }
    program->header_count = count;
    for (size_t i = 0; i < count; i++) {
        program->headers[i].name = strdup(names[i]);
        program->headers[i].text = strdup(headers[i]);
        if (!program->headers[i].name || !program->headers[i].text) {
            return false;
        }
    }
    return true;
}

mcrtcResult mc_rtc_create(const char *source, const char *name,
                          const char *const *headers,
                          const char *const *header_names, size_t count,
                          McRtcProgram **out)
{
    for (size_t i = 0; i < count; i++) {
        if (!headers[i] || !header_names[i] ||
            !mc_rtc_header_name(header_names[i])) {
            return MCRTC_ERROR_INVALID_INPUT;
        }
    }
    McRtcProgram *program = calloc(1, sizeof(*program));
    if (!program) {
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_init(&program->lock, NULL);
    program->users = 1;
    program->name = strdup(name && *name ? name : DEFAULT_NAME);
    program->source = strdup(source);
    if (!program->name || !program->source ||
        !copy_headers(program, headers, header_names, count)) {
        destroy(program);
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&programs_lock);
    program->next = programs;
    programs = program;
    pthread_mutex_unlock(&programs_lock);
    *out = program;
    return MCRTC_SUCCESS;
}

McRtcProgram *mc_rtc_get(const void *handle)
{
    pthread_mutex_lock(&programs_lock);
    McRtcProgram *program = programs;
    while (program && program != handle) {
        program = program->next;
    }
    if (program) {
        program->users++;
    }
    pthread_mutex_unlock(&programs_lock);
    return program;
}

void mc_rtc_put(McRtcProgram *program)
{
    pthread_mutex_lock(&programs_lock);
    bool last = --program->users == 0;
    pthread_mutex_unlock(&programs_lock);
    if (last) {
        destroy(program);
    }
}

bool mc_rtc_remove(McRtcProgram *program)
{
    bool found = false;

    pthread_mutex_lock(&programs_lock);
    for (McRtcProgram **p = &programs; *p && !found;) {
        if (*p == program) {
            *p = program->next;
            program->users--; /* the caller has one more */
            found = true;
        } else {
            p = &(*p)->next;
        }
    }
    pthread_mutex_unlock(&programs_lock);
    return found;
}

/* ---- names ---- */

static McRtcName *find(McRtcProgram *program, const char *expression)
{
    for (size_t i = 0; i < program->name_count; i++) {
        if (strcmp(program->names[i].expression, expression) == 0) {
            return &program->names[i];
        }
    }
    return NULL;
}

/* Under the lock. */
static mcrtcResult add_name(McRtcProgram *program, const char *expression)
{
    if (program->tried) {
        return MCRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    }
    if (find(program, expression)) {
        return MCRTC_SUCCESS;
    }
    McRtcName *more = realloc(program->names,
                              (program->name_count + 1) * sizeof(*more));
    char *copy = strdup(expression);
    if (more) {
        program->names = more;
    }
    if (!more || !copy) {
        free(copy);
        return MCRTC_ERROR_OUT_OF_MEMORY;
    }
    more[program->name_count++] = (McRtcName){.expression = copy};
    return MCRTC_SUCCESS;
}

mcrtcResult mc_rtc_add_name(McRtcProgram *program, const char *expression)
{
    pthread_mutex_lock(&program->lock);
    mcrtcResult result = add_name(program, expression);
    pthread_mutex_unlock(&program->lock);
    return result;
}

mcrtcResult mc_rtc_lowered(McRtcProgram *program, const char *expression,
                           const char **lowered)
{
    mcrtcResult result = MCRTC_SUCCESS;

    pthread_mutex_lock(&program->lock);
    McRtcName *name = find(program, expression);
    if (!program->code) {
        result = MCRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    } else if (!name || !name->lowered) {
        result = MCRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    } else {
        *lowered = name->lowered;
    }
    pthread_mutex_unlock(&program->lock);
    return result;
}
