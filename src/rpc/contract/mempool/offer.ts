import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { MAX_PACKAGE_COUNT } from "../../../mempool/policy/limits.ts"
import { COIN } from "../../../protocol/amount.ts"
import { rawContract } from "../../method/contract.ts"
import { amount, array, custom, decodedValue, freeText, hexText, refined, withDefault } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { RpcError } from "../../method/RpcError.ts"
import { PACKAGE } from "../../shapes/package.ts"
import { TRIAL } from "../../shapes/relay.ts"
import { DECODE_FAILED, PSBT, PSBT_EXAMPLE } from "../transactions/psbt.ts"

export const RAW_TRANSACTION =
  "01000000011111111111111111111111111111111111111111111111111111111111111111000000000000000000" +
  "0140420f00000000001976a914d5e3d1e149ac4ed83061077faa6d8d92152938c088ac00000000"

export const FEE_RATE_TOO_HIGH = "Fee rates larger than or equal to 1BTC/kvB are not accepted"

export const BURN_EXCEEDED = "Unspendable output exceeds maximum configured by user (maxburnamount)"

export const NO_INPUTS = "Make sure the tx has at least one input."

export const PACKAGE_COUNT = `Array must contain between 1 and ${MAX_PACKAGE_COUNT} transactions.`

/** 0.10 NMC per 1000 virtual bytes. */
const DEFAULT_MAX_FEE_RATE = COIN / 10

/** A rate of 1 NMC or more is refused as a likely mistake. Upstream `rpc/util.cpp`, `ParseFeeRate`. */
const maxFeeRate = withDefault(
  refined(amount("The maximum fee rate, in NMC per 1000 virtual bytes; 0 for no limit."), (rate) => {
    if (rate < COIN) return rate
    return RpcError.invalidParameter(FEE_RATE_TOO_HIGH)
  }),
  DEFAULT_MAX_FEE_RATE,
  "0.10"
)

/** The same, decoded later because errors of the transactions come first. */
export const maxFeeRateLater = withDefault(
  custom({
    kind: maxFeeRate.kind,
    words: maxFeeRate.words,
    description: maxFeeRate.description,
    read: (value, label) => decodedValue(maxFeeRate, value, label)
  }),
  Either.right(DEFAULT_MAX_FEE_RATE),
  "0.10"
)

export const maxBurnAmount = withDefault(amount("Maximum amount in NMC of an unspendable output."), 0, "0.00")

export const FEE_EXCEEDED = "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"

export const ALREADY_MINED = "Transaction outputs already in utxo set"

export const SENDRAWTRANSACTION = rawContract({
  name: "sendrawtransaction",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Adds a transaction to the mempool and announces it until a peer requests it. A transaction that is in " +
    "the mempool already is announced again.",
  params: {
    hexstring: hexText("The transaction."),
    maxfeerate: maxFeeRateLater,
    maxburnamount: maxBurnAmount
  },
  results: [{ schema: Result.hex("Its txid") }],
  examples: [[RAW_TRANSACTION], [RAW_TRANSACTION, 0]],
  errors: [
    `-22 TX decode failed. ${NO_INPUTS}`,
    `-8 ${FEE_RATE_TOO_HIGH}`,
    `-25 ${BURN_EXCEEDED}`,
    `-25 ${FEE_EXCEEDED}`,
    "-25 bad-txns-inputs-missingorspent",
    "-26 <reason of the refusal>",
    `-27 ${ALREADY_MINED}`
  ]
})

export const PSBT_INCOMPLETE = "the PSBT lacks signatures"

export const SENDPSBT = rawContract({
  name: "sendpsbt",
  coins: "any",
  right: "spend",
  writes: true,
  heavy: true,
  summary: "Sends the transaction of a PSBT that has all its signatures, as finalizepsbt and sendrawtransaction do. " +
    "Use combinepsbt first if several machines have signed copies.",
  params: { psbt: freeText(PSBT), maxfeerate: maxFeeRateLater },
  results: [{ schema: Result.hex("Its txid") }],
  examples: [[PSBT_EXAMPLE]],
  errors: [
    DECODE_FAILED,
    `-25 ${PSBT_INCOMPLETE}: input <n> is not complete`,
    `-8 ${FEE_RATE_TOO_HIGH}`,
    `-25 ${FEE_EXCEEDED}`,
    "-25 bad-txns-inputs-missingorspent",
    "-26 <reason of the refusal>",
    `-27 ${ALREADY_MINED}`
  ]
})

export const TESTMEMPOOLACCEPT = rawContract({
  name: "testmempoolaccept",
  right: "read",
  summary: "Returns whether the mempool would accept transactions, without adding them. Of several, parents come " +
    "before children, and none may conflict with another or with the mempool. The transactions after the " +
    "first failure have no verdict.",
  params: {
    rawtxs: array(hexText("A transaction."), "The transactions; at most 25."),
    maxfeerate: maxFeeRateLater
  },
  results: [{ schema: Schema.Array(TRIAL) }],
  examples: [[[RAW_TRANSACTION]]],
  errors: [
    `-8 ${PACKAGE_COUNT}`,
    `-8 ${FEE_RATE_TOO_HIGH}`,
    `-22 TX decode failed: <hex> ${NO_INPUTS}`
  ]
})

export const DISALLOWED = "package topology disallowed. not child-with-parents or parents depend on each other."

export const SUBMITPACKAGE = rawContract({
  name: "submitpackage",
  coins: "any",
  right: "spend",
  writes: true,
  summary: "Adds a transaction with some or all of its unconfirmed parents to the mempool, and announces them. The " +
    "child, which comes last, may pay for parents that the mempool refuses for their fee alone. Parents may not " +
    "spend each other.",
  params: {
    package: array(hexText("A transaction."), "The transactions; at most 25."),
    maxfeerate: maxFeeRateLater,
    maxburnamount: maxBurnAmount
  },
  results: [{ schema: PACKAGE }],
  examples: [[[RAW_TRANSACTION]]],
  errors: [
    `-8 ${PACKAGE_COUNT}`,
    `-8 ${FEE_RATE_TOO_HIGH}`,
    `-22 TX decode failed: <hex> ${NO_INPUTS}`,
    `-25 ${BURN_EXCEEDED}`,
    `-25 ${DISALLOWED}`
  ]
})
