/** Instructions above OP_16 that a script may have, the keys of its multisigs included (consensus; not in tapscript). */
export const MAX_OPS_PER_SCRIPT = 201

/** Keys of one OP_CHECKMULTISIG (consensus). */
export const MAX_PUBKEYS_PER_MULTISIG = 20

/** Elements on both stacks together (consensus). */
export const MAX_STACK_SIZE = 1000

/** Lock times below are heights, others are seconds since 1970 (consensus). */
export const LOCKTIME_THRESHOLD = 500_000_000

/** What each signature in tapscript takes from a budget, which begins with the witness's size and once this (BIP 342). */
export const VALIDATION_WEIGHT_PER_SIGOP = 50

/** First byte of the last item of a witness that makes it an annex (BIP 341). */
export const ANNEX_TAG = 0x50

/** Leaf version of tapscript (BIP 342). The lowest bit of the byte holds something else. */
export const TAPSCRIPT_LEAF = 0xc0

/** Bytes of a control block without its path (BIP 341): leaf version, internal key. */
export const CONTROL_BASE_SIZE = 33

/** Bytes of a step of the path in a control block. */
export const CONTROL_NODE_SIZE = 32

/** Longest path in a control block. */
export const CONTROL_MAX_NODES = 128
