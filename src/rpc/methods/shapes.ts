import * as Shape from "../method/shape.ts"

/**
 * What several methods answer with (reference/rpc.md 3.0), members in the order in which they come. `shapes/` makes
 * them.
 */

const NAME = Shape.optional(Shape.string("The name"))
const NAME_ENCODING = Shape.string("How the name is written: ascii, utf8 or hex")
const NAME_ERROR = Shape.optional(Shape.string("In place of the name: why it cannot be written so"))
const VALUE = Shape.optional(Shape.string("The value"))
const VALUE_ENCODING = Shape.string("How the value is written: ascii, utf8 or hex")
const VALUE_ERROR = Shape.optional(Shape.string("In place of the value: why it cannot be written so"))

/** An operation that sets the record of a name, in a block or not. */
export const NAME_OUTPUT_MEMBERS = {
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: NAME_ENCODING,
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: VALUE_ENCODING,
  txid: Shape.hex("The transaction of the operation"),
  vout: Shape.integer("Which of its outputs holds the name"),
  address: Shape.string("The owner's address; <nonstandard> for a script that has none")
}

/** Whether the selected wallet owns a name. */
export const IS_MINE = Shape.optional(
  Shape.boolean("Whether the wallet of the call owns it; missing where no single wallet is selected")
)

/** The record of a name in the chain. */
export const NAME_INFO = Shape.object({
  ...NAME_OUTPUT_MEMBERS,
  height: Shape.integer("Height of the operation"),
  expires_in: Shape.integer("Blocks until the record expires; 0 or less: it did"),
  expired: Shape.boolean("Whether it expired"),
  ismine: IS_MINE
})

/** The operation in a name script. */
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
const ADDRESS = Shape.optional(Shape.string("The address, where there is one; a name's owner in a name script"))
const TYPE = Shape.string("What kind of script it is, as pubkeyhash or nonstandard; behind the name in a name script")

/** An output script. */
export const SCRIPT = Shape.object({
  nameOp: NAME_OP_OF_SCRIPT,
  asm: ASM,
  desc: DESC,
  hex: Shape.hex("The script"),
  address: ADDRESS,
  type: TYPE
})

/** What `decodescript` says of a script. */
export const DECODED_SCRIPT = Shape.object({
  nameOp: NAME_OP_OF_SCRIPT,
  asm: ASM,
  desc: DESC,
  address: ADDRESS,
  type: TYPE,
  p2sh: Shape.optional(Shape.string("The address that pays to the script by its hash")),
  segwit: Shape.optional(Shape.object({
    asm: ASM,
    desc: DESC,
    hex: Shape.hex("The witness output script that stands for it"),
    address: Shape.optional(Shape.string("Its address")),
    type: Shape.string("witness_v0_keyhash or witness_v0_scripthash"),
    "p2sh-segwit": Shape.string("The address that pays to the witness output by its hash")
  }, "The script as a witness output, where it can be one"))
})

const PREVOUT = Shape.object({
  generated: Shape.boolean("Whether a coinbase made it"),
  height: Shape.integer("Height of the block that made it"),
  value: Shape.amount("Its amount"),
  scriptPubKey: SCRIPT
}, "The coin that is spent, where it is known")

const INPUT = {
  coinbase: Shape.optional(Shape.hex("What a miner wrote; a coinbase has this and no txid, vout and scriptSig")),
  txid: Shape.optional(Shape.hex("The transaction whose output is spent")),
  vout: Shape.optional(Shape.integer("Which of its outputs")),
  scriptSig: Shape.optional(Shape.object({
    asm: Shape.string("The operations as text, hash types as words"),
    hex: Shape.hex("The script")
  })),
  txinwitness: Shape.optional(Shape.array(Shape.hex("An element"), "The witness, if there is one"))
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
      n: Shape.integer("Which output it is"),
      scriptPubKey: SCRIPT,
      ...beside
    }),
    "The outputs"
  )
})

const TRANSACTION_MEMBERS = transactionOf(BARE_INPUT)
const TRANSACTION_MEMBERS_WITH_COINS = transactionOf(INPUT_WITH_COIN)

/** Members of a transaction whose outputs have more members than others. */
export const transactionMembers = (beside: { readonly [name: string]: Shape.Shape }) =>
  transactionOf(BARE_INPUT, beside)

/** A transaction alone, without and with the coins that it spends. */
export const TRANSACTION = Shape.object(TRANSACTION_MEMBERS)
export const TRANSACTION_WITH_COINS = Shape.object(TRANSACTION_MEMBERS_WITH_COINS)

const FEE = Shape.optional(Shape.amount("The fee, where the coins that it spends are known; not of a coinbase"))
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
  Shape.boolean("Whether the named block is on the best chain; only where one is named")
)

const BLOCK_OF_TRANSACTION = {
  blockhash: Shape.hex("Hash of its block"),
  confirmations: Shape.integer("1 where the tip holds it; 0 off the best chain"),
  time: Shape.optional(Shape.time("Time of the block; not off the best chain")),
  blocktime: Shape.optional(Shape.time("The same"))
}

/** A transaction and its block, as `getrawtransaction` shows them. */
export const PLACED_TRANSACTION = Shape.object({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_MEMBERS,
  hex: TRANSACTION_HEX,
  ...BLOCK_OF_TRANSACTION
})

/** A transaction of the mempool: no block has it. */
export const WAITING_TRANSACTION = Shape.object({ ...TRANSACTION_MEMBERS, hex: TRANSACTION_HEX })

/** A transaction and its block, with fee and coins. */
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

/** A merged-mining proof. */
export const AUXPOW = Shape.object({
  tx: Shape.object({
    hex: TRANSACTION_HEX,
    ...TRANSACTION_MEMBERS,
    blockhash: Shape.hex("Hash of the parent block")
  }, "The parent block's coinbase"),
  chainindex: Shape.integer("The chain's place in the tree of merge-mined chains"),
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
  chainwork: Shape.hex("All work up to this block"),
  nTx: Shape.integer("Number of transactions; 0 where only the header is known"),
  nextblockhash: Shape.optional(Shape.hex("Hash of the successor on the best chain"))
}

const PROOF = Shape.optional({ ...AUXPOW, description: "The merged-mining proof of a merge-mined block" })

/** A header with its place in the chain. */
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
      coinbase: Shape.hex("What the miner wrote"),
      witness: Shape.optional(Shape.hex("The reserved value of the witness commitment"))
    }, "What there is to say of the coinbase"),
    tx: Shape.array(transaction, "The transactions"),
    auxpow: PROOF
  })

/** Blocks at verbosity 1, 2 and 3. */
export const BLOCK_WITH_TXIDS = blockOf(Shape.hex("A txid"))
export const BLOCK_WITH_TRANSACTIONS = blockOf(TRANSACTION_OF_BLOCK)
export const BLOCK_WITH_COINS = blockOf(TRANSACTION_OF_BLOCK_WITH_COINS)
