import * as Schema from "effect/Schema"
import { NAME_ABSENCE } from "../../../names/nameEvidence.ts"
import { MOST_FOLLOWING, MOST_OPERATIONS, NAME_PROOF, PROOF_FAILURES } from "../../../verify/nameProof.ts"
import { namesContract } from "../../method/contract.ts"
import {
  atMost,
  boolean,
  int32,
  json,
  notNull,
  object,
  optional,
  orEmpty,
  string,
  withDefault
} from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { ENCODINGS } from "./nameParams.ts"

/** Headers after the newest operation, unless a caller asks for another number. */
export const USUAL_FOLLOWING = 6

const LEAF = {
  tx: Result.hex("The transaction"),
  branch: Schema.Array(Result.hex("A hash")).annotations({
    description: "The hashes from the transaction to the merkle root, its neighbor first"
  })
}

const ABOUT = {
  network: Result.oneOf("The chain", "main", "test", "regtest"),
  name: Result.hex("The name")
}

const AS_OF = {
  height: Result.integer("Height of the last block"),
  hash: Result.hex("Its hash")
}

const AS_OF_DESCRIPTION = { description: "The last block of the chain that has the operations" }

export const NAME_PROOF_DOCUMENT = Schema.Struct({
  svcd: Result.oneOf("The format", NAME_PROOF),
  ...ABOUT,
  operations: Schema.Array(Schema.Struct({
    height: Result.integer("Height of the block"),
    tx: LEAF.tx,
    vout: Result.integer("The output with the name"),
    branch: LEAF.branch,
    pos: Result.integer("Position of the transaction in the block"),
    coinbase: Schema.optional(
      Schema.Struct(LEAF).annotations({ description: "The first transaction of the block, which contains the height" })
    ),
    headers: Schema.Array(Result.hex("A header with its merged-mining proof")).annotations({
      description: "The header of the block; for the newest operation also the headers of the next blocks"
    })
  })).annotations({ description: "The newest first" }),
  asOf: Schema.Struct({
    ...AS_OF,
    header: Result.hex("Its header with the merged-mining proof"),
    coinbase: Schema.optional(
      Schema.Struct(LEAF).annotations({ description: "Its first transaction, which contains the height" })
    )
  }).annotations(AS_OF_DESCRIPTION),
  since: Schema.optional(
    Result.integer(
      "Height of the registration, as claimed by the node; proven only if the last operation is at this height"
    )
  )
})

export const NAME_ABSENCE_DOCUMENT = Schema.Struct({
  svcd: Result.oneOf("The format", NAME_ABSENCE),
  ...ABOUT,
  absent: Schema.Struct({
    from: Result.integer("Height of the first block"),
    to: Result.integer("Height of the last block")
  }).annotations({
    description: "The blocks without an operation on the name, as claimed by the node; this is not a proof"
  }),
  asOf: Schema.Struct(AS_OF).annotations(AS_OF_DESCRIPTION)
})

export const PROOF_OPTIONS = {
  headers: withDefault(
    atMost(MOST_FOLLOWING, int32("Headers to add after that of the newest operation, as far as there are blocks.")),
    USUAL_FOLLOWING
  ),
  chain: withDefault(
    boolean(
      `Whether to prove all operations since the registration, as far as the node has their blocks; at most ${MOST_OPERATIONS}.`
    ),
    false
  )
}

/** Why a node that knows a name cannot prove it. */
const UNAVAILABLE = "-1 the operation at height <n> cannot be proven: <reason>"

export const NAME_PROOF_METHOD = namesContract({
  name: "name_proof",
  right: "read",
  heavy: true,
  summary: "Returns a portable proof of the current record of a name, which anyone can verify without a chain: " +
    "`verifynameproof`, `svcd-cli verify-proof`, or `svcd/verify` in a browser. A proof cannot show that a name does " +
    "not exist.",
  params: {
    name: string("The name."),
    options: orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding, ...PROOF_OPTIONS }, "Options.")))
  },
  results: [
    { when: "the name has a record, expired or not", schema: NAME_PROOF_DOCUMENT },
    { when: "the name never existed", schema: NAME_ABSENCE_DOCUMENT }
  ],
  examples: [["d/example"], ["d/example", { headers: 12, chain: true }]],
  errors: [
    "-10 Namecoin is downloading blocks...",
    "-8 headers must not be negative",
    UNAVAILABLE,
    "-1000 Name/value is invalid for encoding ascii"
  ]
})

const VERIFIED = Schema.Struct({
  valid: Result.boolean("True"),
  name: Result.string("The name; bytes that are not UTF-8 show as U+FFFD"),
  nameHex: Result.hex("The name"),
  value: Result.string("The value; bytes that are not UTF-8 show as U+FFFD"),
  valueHex: Result.hex("The value"),
  height: Result.integer("Height of the newest operation"),
  time: Result.integer("Time of its block, in seconds since 1970"),
  txid: Result.hex("Its transaction"),
  vout: Result.integer("Its output"),
  expiresIn: Result.integer("Blocks from the tip of the proof until the name expires"),
  since: Schema.optional(Result.integer("Height of the registration, if the proof reaches it")),
  owner: Result.string("The address of the owner, or the script in hexadecimal digits"),
  proof: Result.oneOf(
    "buried: blocks with work are on top; signatures: in addition, each owner in the proof signed the next operation. " +
      "That shows nothing if the block of the oldest one is false",
    "buried",
    "signatures"
  ),
  confirmations: Result.integer("Blocks in the proof from that of the newest operation on"),
  problems: Schema.Array(Schema.Struct({
    code: Result.string("What to know: height-claimed, near-expiry, semi-expired or unsigned-owner"),
    message: Result.string("The same in a sentence")
  })).annotations({ description: "What to know of a valid proof" })
})

/** For the example: a proof of nothing. */
const EMPTY_PROOF = {
  svcd: NAME_PROOF,
  network: "main",
  name: "642f6578616d706c65",
  operations: [],
  asOf: {
    height: 0,
    hash: "000000000062b72c5e2ceb45fbc8587e807c155b0da735e6483dfba2f0a9c770",
    header: ""
  }
}

const REFUSED = Schema.Struct({
  valid: Result.boolean("False"),
  failed: Result.string("The reason"),
  code: Schema.optional(Result.oneOf("The kind of the reason, if a caller can act on it", ...PROOF_FAILURES))
})

export const VERIFYNAMEPROOF = namesContract({
  name: "verifynameproof",
  right: "read",
  coins: "any",
  heavy: true,
  summary: "Verifies a portable proof of `name_proof`, signatures included. Needs no chain: even a node without " +
    "blocks gives the same answer. The proof must be about the node's own network.",
  params: {
    proof: json("The proof, as an object or as its text.", { words: "json object or string" }),
    options: orEmpty(notNull(object({
      minConfirmations: optional(int32("Blocks that the proof must have from that of the newest operation on."), "1")
    }, "Options.")))
  },
  results: [{ when: "the proof is valid", schema: VERIFIED }, { when: "it is not", schema: REFUSED }],
  examples: [[EMPTY_PROOF]],
  errors: []
})
