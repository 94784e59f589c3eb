import { contract } from "../../method/contract.ts"
import { array, hexText } from "../../method/params.ts"
import { PACKAGE } from "../../shapes/package.ts"
import {
  BURN_EXCEEDED,
  FEE_RATE_TOO_HIGH,
  maxBurnAmount,
  maxFeeRateLater,
  NO_INPUTS,
  PACKAGE_COUNT,
  RAW_TRANSACTION
} from "./offeredTransactions.ts"

export const DISALLOWED = "package topology disallowed. not child-with-parents or parents depend on each other."

export const SUBMITPACKAGE = contract({
  name: "submitpackage",
  coins: "any",
  right: "spend",
  writes: true,
  group: "Raw transactions",
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
