import * as Shape from "../method/shape.ts"

/** Results of several methods (reference/rpc.md 3.0), with members in output order. `shapes/` makes them. */

const NAME = Shape.optional(Shape.string("The name"))
const NAME_ENCODING = Shape.string("Encoding of the name: ascii, utf8 or hex")
const NAME_ERROR = Shape.optional(Shape.string("Instead of the name: why this encoding cannot represent it"))
const VALUE = Shape.optional(Shape.string("The value"))
const VALUE_ENCODING = Shape.string("Encoding of the value: ascii, utf8 or hex")
const VALUE_ERROR = Shape.optional(Shape.string("Instead of the value: why this encoding cannot represent it"))

/** An operation that sets the record of a name, confirmed or not. */
export const NAME_OUTPUT_MEMBERS = {
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: NAME_ENCODING,
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: VALUE_ENCODING,
  txid: Shape.hex("The transaction of the operation"),
  vout: Shape.integer("Index of the output with the name"),
  address: Shape.string("The owner's address; <nonstandard> for a script without one")
}

export const IS_MINE = Shape.optional(
  Shape.boolean("Whether the wallet of the call owns it; missing if no single wallet is selected")
)

export const NAME_INFO = Shape.object({
  ...NAME_OUTPUT_MEMBERS,
  height: Shape.integer("Height of the operation"),
  expires_in: Shape.integer("Blocks until the record expires; 0 or less if it has expired"),
  expired: Shape.boolean("Whether the record has expired"),
  ismine: IS_MINE
})

export const NAME_OP = Shape.object({
  op: Shape.string("name_new, name_firstupdate or name_update"),
  hash: Shape.optional(Shape.hex("The commitment of a name_new, which has no other members")),
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: Shape.optional(NAME_ENCODING),
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: Shape.optional(VALUE_ENCODING),
  rand: Shape.optional(Shape.hex("The salt of a name_firstupdate"))
})

const NAME_OP_OF_SCRIPT = Shape.optional({ ...NAME_OP, description: "The name operation, if it is a name script" })
const ASM = Shape.string("The operations as text")
const DESC = Shape.string("The output descriptor, with its checksum")
const ADDRESS = Shape.optional(Shape.string("The address, if there is one; in a name script, the owner's"))
const TYPE = Shape.string("Script type, as pubkeyhash or nonstandard; in a name script, of the part after the name")

export const SCRIPT = Shape.object({
  nameOp: NAME_OP_OF_SCRIPT,
  asm: ASM,
  desc: DESC,
  hex: Shape.hex("The script"),
  address: ADDRESS,
  type: TYPE
})

export const DECODED_SCRIPT = Shape.object({
  nameOp: NAME_OP_OF_SCRIPT,
  asm: ASM,
  desc: DESC,
  address: ADDRESS,
  type: TYPE,
  p2sh: Shape.optional(Shape.string("The address that pays to the script's hash")),
  segwit: Shape.optional(Shape.object({
    asm: ASM,
    desc: DESC,
    hex: Shape.hex("The witness output script"),
    address: Shape.optional(Shape.string("The address of the witness output")),
    type: Shape.string("witness_v0_keyhash or witness_v0_scripthash"),
    "p2sh-segwit": Shape.string("The address that pays to the hash of the witness output")
  }, "The script as a witness output, if possible"))
})

const PREVOUT = Shape.object({
  generated: Shape.boolean("Whether it is the output of a coinbase"),
  height: Shape.integer("Height of its block"),
  value: Shape.amount("Its amount"),
  scriptPubKey: SCRIPT
}, "The spent coin, if it is known")

const INPUT = {
  coinbase: Shape.optional(Shape.hex("Script of a coinbase, which has no txid, vout and scriptSig")),
  txid: Shape.optional(Shape.hex("The transaction of the spent output")),
  vout: Shape.optional(Shape.integer("Index of the output")),
  scriptSig: Shape.optional(Shape.object({
    asm: Shape.string("The operations as text, hash types as words"),
    hex: Shape.hex("The script")
  })),
  txinwitness: Shape.optional(Shape.array(Shape.hex("An element"), "The witness, if any"))
}

const SEQUENCE = Shape.integer("Sequence number")

const BARE_INPUT = Shape.object({ ...INPUT, sequence: SEQUENCE })
const INPUT_WITH_COIN = Shape.object({ ...INPUT, prevout: Shape.optional(PREVOUT), sequence: SEQUENCE })

const transactionOf = (input: Shape.Shape, beside: { readonly [name: string]: Shape.Shape } = {}) => ({
  txid: Shape.hex("Hash without witnesses"),
  hash: Shape.hex("Hash with witnesses"),
  version: Shape.integer("Version; 28928 for name transactions"),
  size: Shape.integer("Bytes"),
  vsize: Shape.integer("Virtual bytes: a quarter of the weight, rounded up"),
  weight: Shape.integer("Weight units"),
  locktime: Shape.integer("Lock time"),
  vin: Shape.array(input, "The inputs"),
  vout: Shape.array(
    Shape.object({
      value: Shape.amount("Amount"),
      n: Shape.integer("Index of the output"),
      scriptPubKey: SCRIPT,
      ...beside
    }),
    "The outputs"
  )
})

const TRANSACTION_MEMBERS = transactionOf(BARE_INPUT)
const TRANSACTION_MEMBERS_WITH_COINS = transactionOf(INPUT_WITH_COIN)

/** Members of a transaction whose outputs have additional members. */
export const transactionMembers = (beside: { readonly [name: string]: Shape.Shape }) =>
  transactionOf(BARE_INPUT, beside)

/** A transaction without its block, without and with the coins that it spends. */
export const TRANSACTION = Shape.object(TRANSACTION_MEMBERS)
export const TRANSACTION_WITH_COINS = Shape.object(TRANSACTION_MEMBERS_WITH_COINS)

const FEE = Shape.optional(Shape.amount("The fee, if the spent coins are known; not for a coinbase"))
const TRANSACTION_HEX = Shape.hex("The transaction")

/** A transaction of a block, at verbosity 2. */
const TRANSACTION_OF_BLOCK = Shape.object({ ...TRANSACTION_MEMBERS, fee: FEE, hex: TRANSACTION_HEX })

/** The same at verbosity 3. */
const TRANSACTION_OF_BLOCK_WITH_COINS = Shape.object({
  ...TRANSACTION_MEMBERS_WITH_COINS,
  fee: FEE,
  hex: TRANSACTION_HEX
})

const IN_ACTIVE_CHAIN = Shape.optional(
  Shape.boolean("Whether the given block is on the best chain; only with a given block")
)

const BLOCK_OF_TRANSACTION = {
  blockhash: Shape.hex("Hash of its block"),
  confirmations: Shape.integer("1 in the tip; 0 off the best chain"),
  time: Shape.optional(Shape.time("Time of the block; not off the best chain")),
  blocktime: Shape.optional(Shape.time("Same as time"))
}

/** A transaction and its block, as in `getrawtransaction`. */
export const PLACED_TRANSACTION = Shape.object({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_MEMBERS,
  hex: TRANSACTION_HEX,
  ...BLOCK_OF_TRANSACTION
})

export const WAITING_TRANSACTION = Shape.object({ ...TRANSACTION_MEMBERS, hex: TRANSACTION_HEX })

export const PLACED_TRANSACTION_WITH_COINS = Shape.object({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_MEMBERS_WITH_COINS,
  fee: FEE,
  hex: TRANSACTION_HEX,
  ...BLOCK_OF_TRANSACTION
})

const BARE_HEADER = {
  hash: Shape.hex("Hash of the block"),
  version: Shape.integer("Version"),
  versionHex: Shape.hex("The same in hexadecimal digits"),
  merkleroot: Shape.hex("Merkle root"),
  time: Shape.time("Time of the block"),
  nonce: Shape.integer("Nonce"),
  bits: Shape.hex("Target in compact form"),
  difficulty: Shape.number("Difficulty"),
  previousblockhash: Shape.optional(Shape.hex("Hash of the predecessor; not of the first block"))
}

export const AUXPOW = Shape.object({
  tx: Shape.object({
    hex: TRANSACTION_HEX,
    ...TRANSACTION_MEMBERS,
    blockhash: Shape.hex("Hash of the parent block")
  }, "The parent block's coinbase"),
  chainindex: Shape.integer("The chain's position in the tree of merge-mined chains"),
  merklebranch: Shape.array(Shape.hex("A hash"), "From the coinbase to the parent's Merkle root"),
  chainmerklebranch: Shape.array(Shape.hex("A hash"), "From this block's hash to the root in the coinbase"),
  parentblock: Shape.object(BARE_HEADER, "The parent block's header")
})

const PLACED_HEADER = {
  ...BARE_HEADER,
  confirmations: Shape.integer("1 for the tip; -1 off the best chain"),
  height: Shape.integer("Height"),
  mediantime: Shape.time("Median of the times of eleven blocks up to this one"),
  target: Shape.hex("Target"),
  chainwork: Shape.hex("Total work up to this block"),
  nTx: Shape.integer("Number of transactions; 0 if only the header is known"),
  nextblockhash: Shape.optional(Shape.hex("Hash of the successor on the best chain"))
}

const PROOF = Shape.optional({ ...AUXPOW, description: "The merged-mining proof of a merge-mined block" })

export const HEADER = Shape.object({ ...PLACED_HEADER, auxpow: PROOF })

const blockOf = (transaction: Shape.Shape): Shape.Shape =>
  Shape.object({
    ...PLACED_HEADER,
    strippedsize: Shape.integer("Bytes without witnesses"),
    size: Shape.integer("Bytes"),
    weight: Shape.integer("Weight units"),
    coinbase_tx: Shape.object({
      version: Shape.integer("Version"),
      locktime: Shape.integer("Lock time"),
      sequence: SEQUENCE,
      coinbase: Shape.hex("Script of the coinbase"),
      witness: Shape.optional(Shape.hex("The reserved value of the witness commitment"))
    }, "The coinbase"),
    tx: Shape.array(transaction, "The transactions"),
    auxpow: PROOF
  })

export const BLOCK_WITH_TXIDS = blockOf(Shape.hex("A txid"))
export const BLOCK_WITH_TRANSACTIONS = blockOf(TRANSACTION_OF_BLOCK)
export const BLOCK_WITH_COINS = blockOf(TRANSACTION_OF_BLOCK_WITH_COINS)
