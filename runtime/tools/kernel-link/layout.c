/* SPDX-License-Identifier: MIT */
/* Size, alignment and scalar parts of C++ types, from debug information. */
#include "kl.h"

#include <string.h>

/* Operands of debug information nodes that the C interface does not name. */
enum {
    DI_TYPE_NAME = 2,      /* DIType */
    DI_TYPE_BASE = 3,      /* DIDerivedType, DICompositeType */
    DI_COMPOSITE_ELEMENTS = 4,
    DI_SUBROUTINE_TYPES = 3,
    DI_SUBPROGRAM_TYPE = 4,
    DI_SUBRANGE_COUNT = 0,
};

enum {
    DW_TAG_array_type = 0x01,
    DW_TAG_class_type = 0x02,
    DW_TAG_enumeration_type = 0x04,
    DW_TAG_member = 0x0d,
    DW_TAG_pointer_type = 0x0f,
    DW_TAG_reference_type = 0x10,
    DW_TAG_structure_type = 0x13,
    DW_TAG_typedef = 0x16,
    DW_TAG_union_type = 0x17,
    DW_TAG_inheritance = 0x1c,
    DW_TAG_ptr_to_member_type = 0x1f,
    DW_TAG_base_type = 0x24,
    DW_TAG_const_type = 0x26,
    DW_TAG_volatile_type = 0x35,
    DW_TAG_restrict_type = 0x37,
    DW_TAG_unspecified_type = 0x3b,
    DW_TAG_rvalue_reference_type = 0x42,
    DW_TAG_atomic_type = 0x47,
};

#define DEPTH_MAX 64

static LLVMContextRef ctx_of(void)
{
    return LLVMGetGlobalContext();
}

/* Operand i of a node; NULL when it is null or missing. */
static LLVMValueRef operand(LLVMMetadataRef node, unsigned i)
{
    LLVMValueRef value = LLVMMetadataAsValue(ctx_of(), node);
    unsigned n = LLVMGetMDNodeNumOperands(value);
    LLVMValueRef *ops = kl_alloc((n + 1) * sizeof(*ops));

    LLVMGetMDNodeOperands(value, ops);
    return i < n ? ops[i] : NULL;
}

static LLVMMetadataRef node_operand(LLVMMetadataRef node, unsigned i)
{
    LLVMValueRef value = operand(node, i);

    return value ? LLVMValueAsMetadata(value) : NULL;
}

static bool is_type(LLVMMetadataRef md)
{
    LLVMMetadataKind kind = LLVMGetMetadataKind(md);

    return kind == LLVMDIBasicTypeMetadataKind ||
           kind == LLVMDIDerivedTypeMetadataKind ||
           kind == LLVMDICompositeTypeMetadataKind ||
           kind == LLVMDISubroutineTypeMetadataKind;
}

static void add_leaf(KlLayout *out, uint64_t offset, uint64_t size, bool flt)
{
    if (out->leaves < KL_LEAVES) {
        out->leaf[out->leaves] = (KlLeaf){ offset, size, flt };
    }
    if (out->leaves <= KL_LEAVES) {
        out->leaves++;
    }
}

static bool scalar(KlLayout *out, uint64_t size, bool flt)
{
    out->size = size;
    out->align = size ? size : 1;
    out->leaves = 0;
    add_leaf(out, 0, size, flt);
    return true;
}

static bool base_type(LLVMMetadataRef type, KlLayout *out, const char **why)
{
    static const char *const floats[] = {
        "float", "double", "_Float16", "__fp16", "half", "__bf16",
    };
    uint64_t size = LLVMDITypeGetSizeInBits(type) / 8;
    size_t len;
    const char *name = LLVMDITypeGetName(type, &len);
    bool flt = false;

    for (size_t i = 0; i < sizeof(floats) / sizeof(floats[0]); i++) {
        flt |= len == strlen(floats[i]) && !memcmp(name, floats[i], len);
    }
    if (len == 11 && !memcmp(name, "long double", len)) {
        *why = "long double has another format on the host";
        return false;
    }
    if (len == 7 && !memcmp(name, "complex", len)) {
        out->aggregate = true;
        out->size = size;
        out->align = size / 2;
        add_leaf(out, 0, size / 2, true);
        add_leaf(out, size / 2, size / 2, true);
        return true;
    }
    return scalar(out, size, flt);
}

static bool layout(LLVMMetadataRef type, KlLayout *out, const char **why,
                   unsigned depth);

/* The parts of element, count times from offset on. */
static void add_parts(KlLayout *out, const KlLayout *part, uint64_t offset,
                      uint64_t count)
{
    for (uint64_t i = 0; i < count && part->leaves; i++) {
        if (part->leaves > KL_LEAVES) {
            out->leaves = KL_LEAVES + 1;
        }
        for (unsigned j = 0; j < part->leaves && j < KL_LEAVES; j++) {
            add_leaf(out, offset + i * part->size + part->leaf[j].offset,
                     part->leaf[j].size, part->leaf[j].flt);
        }
        if (out->leaves > KL_LEAVES) {
            return;
        }
    }
}

static bool array_type(LLVMMetadataRef type, KlLayout *out, const char **why,
                       unsigned depth)
{
    LLVMMetadataRef base = node_operand(type, DI_TYPE_BASE);
    KlLayout element = { 0 };

    if (!base || !layout(base, &element, why, depth)) {
        return false;
    }
    out->size = LLVMDITypeGetSizeInBits(type) / 8;
    out->align = element.align;
    if (LLVMDITypeGetFlags(type) & LLVMDIFlagVector) {
        return scalar(out, out->size, false);
    }
    out->aggregate = true;
    add_parts(out, &element, 0, element.size ? out->size / element.size : 0);
    return true;
}

/* One member or base class of a class. */
static bool member(LLVMMetadataRef md, bool is_union, KlLayout *out,
                   bool *packed, const char **why, unsigned depth)
{
    LLVMMetadataRef base = node_operand(md, DI_TYPE_BASE);
    uint64_t bits = LLVMDITypeGetOffsetInBits(md);
    LLVMDIFlags flags = LLVMDITypeGetFlags(md);
    uint32_t align = LLVMDITypeGetAlignInBits(md) / 8;
    KlLayout part = { 0 };

    if (!base || !layout(base, &part, why, depth)) {
        return false;
    }
    if (flags & LLVMDIFlagVirtual) { /* a virtual base: passed by reference */
        out->leaves = KL_LEAVES + 1;
        return true;
    }
    if (align > part.align) {
        part.align = align;
    }
    if (flags & LLVMDIFlagBitField) {
        add_leaf(out, bits / 8, part.size, false);
    } else {
        add_parts(out, &part, bits / 8, 1);
        *packed |= (bits / 8) % part.align != 0;
    }
    if (is_union && part.leaves) {
        out->leaves = KL_LEAVES + 1;
    }
    if (part.align > out->align) {
        out->align = part.align;
    }
    return true;
}

static bool class_type(LLVMMetadataRef type, KlLayout *out, const char **why,
                       unsigned depth)
{
    LLVMMetadataRef elements = node_operand(type, DI_COMPOSITE_ELEMENTS);
    bool is_union = LLVMGetDINodeTag(type) == DW_TAG_union_type;
    uint32_t align = LLVMDITypeGetAlignInBits(type) / 8;
    unsigned n = 0;
    bool packed = false;

    out->aggregate = true;
    out->size = LLVMDITypeGetSizeInBits(type) / 8;
    out->align = 1;
    out->by_ref = LLVMDITypeGetFlags(type) & LLVMDIFlagTypePassByReference;
    if (LLVMDITypeGetFlags(type) & LLVMDIFlagFwdDecl) {
        *why = "its class is not defined";
        return false;
    }
    if (elements) {
        n = LLVMGetMDNodeNumOperands(LLVMMetadataAsValue(ctx_of(), elements));
    }
    for (unsigned i = 0; i < n; i++) {
        LLVMMetadataRef md = node_operand(elements, i);
        uint16_t tag;

        if (!md || LLVMGetMetadataKind(md) != LLVMDIDerivedTypeMetadataKind) {
            continue;
        }
        tag = LLVMGetDINodeTag(md);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            (LLVMDITypeGetFlags(md) & LLVMDIFlagStaticMember)) {
            continue;
        }
        if (!member(md, is_union, out, &packed, why, depth)) {
            return false;
        }
    }
    if (packed || (out->size && out->size % out->align)) {
        out->align = 1;
        out->leaves = KL_LEAVES + 1;
    }
    if (align > out->align) {
        out->align = align;
    }
    return true;
}

static bool layout(LLVMMetadataRef type, KlLayout *out, const char **why,
                   unsigned depth)
{
    uint32_t align;
    LLVMMetadataRef base;

    if (!depth) {
        *why = "its type is nested too deeply";
        return false;
    }
    if (!is_type(type)) {
        *why = "its type is not described";
        return false;
    }
    switch (LLVMGetDINodeTag(type)) {
    case DW_TAG_base_type:
        return base_type(type, out, why);
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
    case DW_TAG_unspecified_type: /* std::nullptr_t */
        return scalar(out, 8, false);
    case DW_TAG_ptr_to_member_type:
        scalar(out, 8, false);
        if (LLVMDITypeGetSizeInBits(type) > 64) { /* of a function */
            out->size = 16;
            out->aggregate = true;
            add_leaf(out, 8, 8, false);
        }
        return true;
    case DW_TAG_enumeration_type:
        return scalar(out, LLVMDITypeGetSizeInBits(type) / 8, false);
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        base = node_operand(type, DI_TYPE_BASE);
        align = LLVMDITypeGetAlignInBits(type) / 8;
        if (!base || !layout(base, out, why, depth - 1)) {
            return false;
        }
        if (align > out->align) {
            out->align = align;
        }
        return true;
    case DW_TAG_array_type:
        return array_type(type, out, why, depth - 1);
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
        return class_type(type, out, why, depth - 1);
    default:
        *why = "its type cannot be passed to a kernel";
        return false;
    }
}

bool kl_layout(LLVMMetadataRef type, KlLayout *out, const char **why)
{
    memset(out, 0, sizeof(*out));
    return layout(type, out, why, DEPTH_MAX);
}

bool kl_param_types(LLVMValueRef fn, LLVMValueRef **types, unsigned *count)
{
    LLVMMetadataRef sp = LLVMGetSubprogram(fn);
    LLVMMetadataRef type = sp ? node_operand(sp, DI_SUBPROGRAM_TYPE) : NULL;
    LLVMValueRef list;

    if (!type) {
        return false;
    }
    list = operand(type, DI_SUBROUTINE_TYPES);
    if (!list) {
        return false;
    }
    *count = LLVMGetMDNodeNumOperands(list);
    *types = kl_alloc((*count + 1) * sizeof(**types));
    LLVMGetMDNodeOperands(list, *types);
    return true;
}
