import * as Schema from "effect/Schema"
import { contract } from "../../method/contract.ts"
import { array, hexText } from "../../method/params.ts"
import * as Result from "../../method/results.ts"
import { TRIAL } from "../../shapes/relay.ts"
import {
  BURN_EXCEEDED,
  FEE_RATE_TOO_HIGH,
  maxBurnAmount,
  maxFeeRateLater,
  NO_INPUTS,
  PACKAGE_COUNT,
  RAW_TRANSACTION
} from "./offeredTransactions.ts"

export const FEE_EXCEEDED = "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)"

export const ALREADY_MINED = "Transaction outputs already in utxo set"

export const SENDRAWTRANSACTION = contract({
  name: "sendrawtransaction",
  coins: "any",
  right: "spend",
  writes: true,
  group: "Raw transactions",
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

export const TESTMEMPOOLACCEPT = contract({
  name: "testmempoolaccept",
  right: "read",
  group: "Raw transactions",
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
