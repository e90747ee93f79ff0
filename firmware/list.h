/* SPDX-License-Identifier: MIT */
/* Doubly linked lists whose links live in their elements. */
#ifndef FW_LIST_H
#define FW_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct FwList {
    struct FwList *next, *prev;
} FwList;

#define list_entry(node, type, member)                                         \
    ((type *)((char *)(node)-offsetof(type, member)))

static inline void list_init(FwList *head)
{
    head->next = head->prev = head;
}

static inline bool list_empty(const FwList *head)
{
    return head->next == head;
}

static inline void list_add_tail(FwList *head, FwList *node)
{
    node->prev = head->prev;
    node->next = head;
    head->prev->next = node;
    head->prev = node;
}

/* Leaves the node as a list of its own, so that removing twice is harmless. */
static inline void list_remove(FwList *node)
{
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

#endif
