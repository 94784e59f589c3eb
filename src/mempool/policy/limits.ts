import { MAX_BLOCK_SIGOPS_COST, WITNESS_SCALE_FACTOR } from "../../consensus/params.ts"
import { COIN } from "../../protocol/amount.ts"

// The limits of relay policy (reference/protocol.md 5.5; upstream `policy/policy.h`). Fee rates are smallest units per
// kvB.

/** The minimum to be relayed: a thousand times Bitcoin's rate. */
export const MIN_RELAY_FEE_RATE = COIN / 1000

/** What a replacement must pay on top, and the step in which a full pool raises its minimum fee rate. */
export const INCREMENTAL_FEE_RATE = 100

/** The fee rate at which spending an output must not cost more than its value. */
export const DUST_FEE_RATE = 3000

/** Standard versions besides that of name transactions. */
export const MIN_STANDARD_VERSION = 1
export const MAX_STANDARD_VERSION = 3

export const MAX_STANDARD_WEIGHT = 400_000

/** Minimum bytes without witnesses: a transaction of 64 could be taken for an inner node of a merkle tree. */
export const MIN_STANDARD_SIZE = 65

export const MAX_STANDARD_SCRIPT_SIG = 1650

export const MAX_STANDARD_SIGOP_COST = MAX_BLOCK_SIGOPS_COST / 5

/** Signature operations outside of witnesses that a transaction may execute (BIP 54). */
export const MAX_LEGACY_SIGOPS = 2500

/** Signature operations of a redeem script. */
export const MAX_REDEEM_SIGOPS = 15

/** Keys of a multisignature output. */
export const MAX_BARE_MULTISIG_KEYS = 3

/** Bytes of all null-data scripts of a transaction. */
export const MAX_NULL_DATA = MAX_STANDARD_WEIGHT / WITNESS_SCALE_FACTOR

/** Dust outputs that a transaction without a fee may have. */
export const MAX_DUST_OUTPUTS = 1

/** The witness of a pay-to-witness-script-hash input: the script, the items before it and each of them. */
export const MAX_WITNESS_SCRIPT_SIZE = 3600
export const MAX_WITNESS_ITEMS = 100
export const MAX_WITNESS_ITEM_SIZE = 80

/** Each witness item before script and control block in a tapscript spend. */
export const MAX_TAPSCRIPT_ITEM_SIZE = 80

/** Minimum weight of a unit of sigop cost (upstream `-bytespersigop`). */
export const WEIGHT_PER_SIGOP_COST = 20

/** Transactions of a cluster, and their total weight (101 kvB). */
export const MAX_CLUSTER_COUNT = 64
export const MAX_CLUSTER_WEIGHT = 101_000 * WITNESS_SCALE_FACTOR

/** Clusters that a replacement may take transactions from. */
export const MAX_REPLACED_CLUSTERS = 100

/** Transactions offered together. */
export const MAX_PACKAGE_COUNT = 25
export const MAX_PACKAGE_WEIGHT = 404_000
