import * as Schema from "effect/Schema"
import * as Result from "../method/results.ts"

/** Results of several methods (reference/rpc.md 3.0), with members in output order. `shapes/` makes them. */

const NAME = Schema.optional(Result.string("The name"))
const NAME_ENCODING = Result.string("Encoding of the name: ascii, utf8 or hex")
const NAME_ERROR = Schema.optional(Result.string("Instead of the name: why this encoding cannot represent it"))
const VALUE = Schema.optional(Result.string("The value"))
const VALUE_ENCODING = Result.string("Encoding of the value: ascii, utf8 or hex")
const VALUE_ERROR = Schema.optional(Result.string("Instead of the value: why this encoding cannot represent it"))

/** An operation that sets the record of a name, confirmed or not. */
export const NAME_OUTPUT_MEMBERS = {
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: NAME_ENCODING,
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: VALUE_ENCODING,
  txid: Result.hex("The transaction of the operation"),
  vout: Result.integer("Index of the output with the name"),
  address: Result.string("The owner's address; <nonstandard> for a script without one")
}

export const IS_MINE = Schema.optional(
  Result.boolean("Whether the wallet of the call owns it; missing if no single wallet is selected")
)

export const NAME_INFO = Schema.Struct({
  ...NAME_OUTPUT_MEMBERS,
  height: Result.integer("Height of the operation"),
  expires_in: Result.integer("Blocks until the record expires; 0 or less if it has expired"),
  expired: Result.boolean("Whether the record has expired"),
  ismine: IS_MINE
})

export const NAME_OP = Schema.Struct({
  op: Result.string("name_new, name_firstupdate or name_update"),
  hash: Schema.optional(Result.hex("The commitment of a name_new, which has no other members")),
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: Schema.optional(NAME_ENCODING),
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: Schema.optional(VALUE_ENCODING),
  rand: Schema.optional(Result.hex("The salt of a name_firstupdate"))
})

const NAME_OP_OF_SCRIPT = Schema.optional(
  NAME_OP.annotations({ description: "The name operation, if it is a name script" })
)
const ASM = Result.string("The operations as text")
const DESC = Result.string("The output descriptor, with its checksum")
const ADDRESS = Schema.optional(Result.string("The address, if there is one; in a name script, the owner's"))
const TYPE = Result.string("Script type, as pubkeyhash or nonstandard; in a name script, of the part after the name")

export const SCRIPT = Schema.Struct({
  nameOp: NAME_OP_OF_SCRIPT,
  asm: ASM,
  desc: DESC,
  hex: Result.hex("The script"),
  address: ADDRESS,
  type: TYPE
})

export const DECODED_SCRIPT = Schema.Struct({
  nameOp: NAME_OP_OF_SCRIPT,
  asm: ASM,
  desc: DESC,
  address: ADDRESS,
  type: TYPE,
  p2sh: Schema.optional(Result.string("The address that pays to the script's hash")),
  segwit: Schema.optional(
    Schema.Struct({
      asm: ASM,
      desc: DESC,
      hex: Result.hex("The witness output script"),
      address: Schema.optional(Result.string("The address of the witness output")),
      type: Result.string("witness_v0_keyhash or witness_v0_scripthash"),
      "p2sh-segwit": Result.string("The address that pays to the hash of the witness output")
    }).annotations({ description: "The script as a witness output, if possible" })
  )
})

const PREVOUT = Schema.Struct({
  generated: Result.boolean("Whether it is the output of a coinbase"),
  height: Result.integer("Height of its block"),
  value: Result.amount("Its amount"),
  scriptPubKey: SCRIPT
}).annotations({ description: "The spent coin, if it is known" })

const INPUT = {
  coinbase: Schema.optional(Result.hex("Script of a coinbase, which has no txid, vout and scriptSig")),
  txid: Schema.optional(Result.hex("The transaction of the spent output")),
  vout: Schema.optional(Result.integer("Index of the output")),
  scriptSig: Schema.optional(Schema.Struct({
    asm: Result.string("The operations as text, hash types as words"),
    hex: Result.hex("The script")
  })),
  txinwitness: Schema.optional(
    Schema.Array(Result.hex("An element")).annotations({ description: "The witness, if any" })
  )
}

const SEQUENCE = Result.integer("Sequence number")

const BARE_INPUT = Schema.Struct({ ...INPUT, sequence: SEQUENCE })
const INPUT_WITH_COIN = Schema.Struct({ ...INPUT, prevout: Schema.optional(PREVOUT), sequence: SEQUENCE })

const transactionOf = <I extends Result.AnyResult, F extends Schema.Struct.Fields>(input: I, beside: F) => ({
  txid: Result.hex("Hash without witnesses"),
  hash: Result.hex("Hash with witnesses"),
  version: Result.integer("Version; 28928 for name transactions"),
  size: Result.integer("Bytes"),
  vsize: Result.integer("Virtual bytes: a quarter of the weight, rounded up"),
  weight: Result.integer("Weight units"),
  locktime: Result.integer("Lock time"),
  vin: Schema.Array(input).annotations({ description: "The inputs" }),
  vout: Schema.Array(
    Schema.Struct({
      value: Result.amount("Amount"),
      n: Result.integer("Index of the output"),
      scriptPubKey: SCRIPT,
      ...beside
    })
  ).annotations({ description: "The outputs" })
})

const TRANSACTION_MEMBERS = transactionOf(BARE_INPUT, {})
const TRANSACTION_MEMBERS_WITH_COINS = transactionOf(INPUT_WITH_COIN, {})

/** Members of a transaction whose outputs have additional members. */
export const transactionMembers = <F extends Schema.Struct.Fields>(beside: F) => transactionOf(BARE_INPUT, beside)

/** A transaction without its block, without and with the coins that it spends. */
export const TRANSACTION = Schema.Struct(TRANSACTION_MEMBERS)
export const TRANSACTION_WITH_COINS = Schema.Struct(TRANSACTION_MEMBERS_WITH_COINS)

const FEE = Schema.optional(Result.amount("The fee, if the spent coins are known; not for a coinbase"))
const TRANSACTION_HEX = Result.hex("The transaction")

/** A transaction of a block, at verbosity 2. */
const TRANSACTION_OF_BLOCK = Schema.Struct({ ...TRANSACTION_MEMBERS, fee: FEE, hex: TRANSACTION_HEX })

/** The same at verbosity 3. */
const TRANSACTION_OF_BLOCK_WITH_COINS = Schema.Struct({
  ...TRANSACTION_MEMBERS_WITH_COINS,
  fee: FEE,
  hex: TRANSACTION_HEX
})

const IN_ACTIVE_CHAIN = Schema.optional(
  Result.boolean("Whether the given block is on the best chain; only with a given block")
)

const BLOCK_OF_TRANSACTION = {
  blockhash: Result.hex("Hash of its block"),
  confirmations: Result.integer("1 in the tip; 0 off the best chain"),
  time: Schema.optional(Result.time("Time of the block; not off the best chain")),
  blocktime: Schema.optional(Result.time("Same as time"))
}

/** A transaction and its block, as in `getrawtransaction`. */
export const PLACED_TRANSACTION = Schema.Struct({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_MEMBERS,
  hex: TRANSACTION_HEX,
  ...BLOCK_OF_TRANSACTION
})

export const WAITING_TRANSACTION = Schema.Struct({ ...TRANSACTION_MEMBERS, hex: TRANSACTION_HEX })

export const PLACED_TRANSACTION_WITH_COINS = Schema.Struct({
  in_active_chain: IN_ACTIVE_CHAIN,
  ...TRANSACTION_MEMBERS_WITH_COINS,
  fee: FEE,
  hex: TRANSACTION_HEX,
  ...BLOCK_OF_TRANSACTION
})

const BARE_HEADER = {
  hash: Result.hex("Hash of the block"),
  version: Result.integer("Version"),
  versionHex: Result.hex("The same in hexadecimal digits"),
  merkleroot: Result.hex("Merkle root"),
  time: Result.time("Time of the block"),
  nonce: Result.integer("Nonce"),
  bits: Result.hex("Target in compact form"),
  difficulty: Result.number("Difficulty"),
  previousblockhash: Schema.optional(Result.hex("Hash of the predecessor; not of the first block"))
}

export const AUXPOW = Schema.Struct({
  tx: Schema.Struct({
    hex: TRANSACTION_HEX,
    ...TRANSACTION_MEMBERS,
    blockhash: Result.hex("Hash of the parent block")
  }).annotations({ description: "The parent block's coinbase" }),
  chainindex: Result.integer("The chain's position in the tree of merge-mined chains"),
  merklebranch: Schema.Array(Result.hex("A hash")).annotations({
    description: "From the coinbase to the parent's Merkle root"
  }),
  chainmerklebranch: Schema.Array(Result.hex("A hash")).annotations({
    description: "From this block's hash to the root in the coinbase"
  }),
  parentblock: Schema.Struct(BARE_HEADER).annotations({ description: "The parent block's header" })
})

const PLACED_HEADER = {
  ...BARE_HEADER,
  confirmations: Result.integer("1 for the tip; -1 off the best chain"),
  height: Result.integer("Height"),
  mediantime: Result.time("Median of the times of eleven blocks up to this one"),
  target: Result.hex("Target"),
  chainwork: Result.hex("Total work up to this block"),
  nTx: Result.integer("Number of transactions; 0 if only the header is known"),
  nextblockhash: Schema.optional(Result.hex("Hash of the successor on the best chain"))
}

const PROOF = Schema.optional(AUXPOW.annotations({ description: "The merged-mining proof of a merge-mined block" }))

export const HEADER = Schema.Struct({ ...PLACED_HEADER, auxpow: PROOF })

const blockOf = <T extends Result.AnyResult>(transaction: T) =>
  Schema.Struct({
    ...PLACED_HEADER,
    strippedsize: Result.integer("Bytes without witnesses"),
    size: Result.integer("Bytes"),
    weight: Result.integer("Weight units"),
    coinbase_tx: Schema.Struct({
      version: Result.integer("Version"),
      locktime: Result.integer("Lock time"),
      sequence: SEQUENCE,
      coinbase: Result.hex("Script of the coinbase"),
      witness: Schema.optional(Result.hex("The reserved value of the witness commitment"))
    }).annotations({ description: "The coinbase" }),
    tx: Schema.Array(transaction).annotations({ description: "The transactions" }),
    auxpow: PROOF
  })

export const BLOCK_WITH_TXIDS = blockOf(Result.hex("A txid"))
export const BLOCK_WITH_TRANSACTIONS = blockOf(TRANSACTION_OF_BLOCK)
export const BLOCK_WITH_COINS = blockOf(TRANSACTION_OF_BLOCK_WITH_COINS)
