import * as Schema from "effect/Schema"
import { EXPIRATION_DEPTH } from "../../../consensus/expiry.ts"
import type { RenewalChoice } from "../../../wallet/names/WalletNames.ts"
import { JsonNumber } from "../../json/json.ts"
import { namesContract } from "../../method/contract.ts"
import { asArgument, boolean, custom, notNull, object, orEmpty, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { NAME_TEXT_MEMBERS } from "../../shapes/name.ts"
import { ENCODINGS, textsIn } from "../names/nameParams.ts"
import { NOT_KNOWN_YET } from "./walletParams.ts"

export const MOST_RENEWED = 5_000

const ALL = "all"

export type GivenChoice =
  | { readonly of: "texts"; readonly texts: ReadonlyArray<string> }
  | Exclude<
    RenewalChoice,
    { readonly of: "names" }
  >

const CHOICE = custom<GivenChoice>({
  words: "json array, string or numeric",
  description:
    `The names, up to ${MOST_RENEWED}; "${ALL}" for all names of the wallet; or a number of blocks, for names that ` +
    "expire within them. The last two leave out names whose renewal is switched off (name_autorenew); to renew " +
    "these, name them. Any other text is one name, as is each text of an array.",
  read: (value) => {
    if (typeof value === "string") return value === ALL ? { of: "all" } : { of: "texts", texts: [value] }
    if (value instanceof JsonNumber) {
      const blocks = value.value
      return Number.isInteger(blocks) && blocks >= 1 && blocks <= EXPIRATION_DEPTH
        ? { of: "within", blocks }
        : RpcError.invalidParameter(`blocks must be from 1 to ${EXPIRATION_DEPTH}`)
    }
    const texts = textsIn(value)
    return texts instanceof RpcError ? texts : { of: "texts", texts }
  }
})

const STATE = Result.string(
  "waiting: no name_update is sent; sent: it waits for a block; done; skipped: it is not renewed"
)

const NOTE = Schema.optional(Result.string("Reason for waiting or for being skipped"))

const PLANNED = Schema.Struct({
  ...NAME_TEXT_MEMBERS,
  state: STATE,
  expires_in: Result.integer("Blocks until the record expires; 0 or less if it has expired"),
  fee: Schema.optional(Result.amount("Fee of its transaction; missing if unknown, or if nothing would be sent")),
  note: NOTE
})

const PLAN = Schema.Struct({
  names: Schema.Array(PLANNED).annotations({ description: "The first to expire first" }),
  transactions: Result.integer("Transactions that would be sent"),
  fee: Schema.optional(Result.amount("Total fee; missing if one is unknown")),
  left_out: Schema.optional(
    Result.integer("Number of names left out because their renewal is switched off; missing if none")
  )
})

const RENEWAL = Schema.Struct({
  ...NAME_TEXT_MEMBERS,
  state: STATE,
  txid: Schema.optional(Result.hex("The transaction of name_update, once sent")),
  psbt: Schema.optional(
    Result.string(
      "The unsigned name_update in base64, of a wallet without private keys. Once signed, sendpsbt sends it"
    )
  ),
  note: NOTE,
  time: Result.time("Start of the renewal"),
  settled: Schema.optional(
    Result.boolean(
      "true for a skipped renewal if a later operation has renewed the name, so that nothing needs to be done"
    )
  )
})

const RENEWALS = Schema.Array(RENEWAL)

export const NAME_RENEW = namesContract({
  name: "name_renew",
  right: "names",
  writes: true,
  summary:
    "Renews many names over the next blocks, even across restarts. Each gets its own transaction and keeps value and " +
    "address. With dryrun, returns the cost without sending anything. name_renewals shows the progress. A wallet " +
    "without private keys makes PSBTs, which wait for their signatures. For the PSBT of one renewal from a wallet with " +
    "keys, call name_update without a value and with psbt.",
  params: {
    names: asArgument("json or text", CHOICE),
    options: orEmpty(notNull(object({
      nameEncoding: ENCODINGS.nameEncoding,
      dryrun: withDefault(boolean("Whether to only return the cost."), false)
    }, "Options.")))
  },
  results: [{ when: "with dryrun", schema: PLAN }, { when: "otherwise", schema: RENEWALS }],
  examples: [["all", { dryrun: true }], [4032], [["d/example", "id/example"]]],
  errors: [
    `-8 blocks must be from 1 to ${EXPIRATION_DEPTH}`,
    `-8 there have to be from 1 to ${MOST_RENEWED} names`,
    "-8 the name is too long",
    "-4 5000 names can be renewed in one request: renew those that expire first",
    "-4 too many renewals are under way",
    "-4 scanning the chain for the wallet's keys: retry when the rescan has ended",
    "-1000 Name/value is invalid for encoding <encoding>",
    NOT_KNOWN_YET
  ]
})

export const NAME_RENEWALS = namesContract({
  name: "name_renewals",
  coins: "any",
  right: "names",
  summary: "Lists the renewals of name_renew and their progress. The last 1000 that ended are kept.",
  params: { options: orEmpty(notNull(object({ nameEncoding: ENCODINGS.nameEncoding }, "Options."))) },
  results: [{ schema: RENEWALS }],
  examples: [[]]
})
