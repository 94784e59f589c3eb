/** Maximum instructions above OP_16 in a script, including the keys of its multisigs (consensus; not in tapscript). */
export const MAX_OPS_PER_SCRIPT = 201

/** Maximum keys of one OP_CHECKMULTISIG (consensus). */
export const MAX_PUBKEYS_PER_MULTISIG = 20

/** Maximum elements on both stacks together (consensus). */
export const MAX_STACK_SIZE = 1000

/** Cost of a signature in tapscript. The budget is the size of the witness plus one such cost (BIP 342). */
export const VALIDATION_WEIGHT_PER_SIGOP = 50

/** First byte of an annex, the last item of a witness (BIP 341). */
export const ANNEX_TAG = 0x50

/** Leaf version of tapscript (BIP 342), without the lowest bit of its byte. */
export const TAPSCRIPT_LEAF = 0xc0

/** Size of a control block without its path (BIP 341): leaf version and internal key. */
export const CONTROL_BASE_SIZE = 33

export const CONTROL_NODE_SIZE = 32

export const CONTROL_MAX_NODES = 128
