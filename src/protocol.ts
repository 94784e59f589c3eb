/**
 * `svcd/protocol`: codecs and rules as plain functions over bytes and values, one namespace per module file. They run
 * in a browser and on Node.js, without files, network or clock.
 *
 * ```ts
 * import { address, networks } from "svcd/protocol"
 * ```
 */

export * as address from "./protocol/address.ts"
export * as amount from "./protocol/amount.ts"
export * as block from "./protocol/block.ts"
export * as bytes from "./protocol/bytes.ts"
export * as extendedKey from "./protocol/extendedKey.ts"
export * as hash from "./protocol/hash.ts"
export * as header from "./protocol/header.ts"
export * as nameOperation from "./protocol/nameOperation.ts"
export * as nameText from "./protocol/nameText.ts"
export * as networks from "./protocol/networks.ts"
export * as script from "./protocol/script.ts"
export * as transaction from "./protocol/transaction.ts"
export * as wif from "./protocol/wif.ts"

export * as difficulty from "./consensus/difficulty.ts"
export * as expiry from "./consensus/expiry.ts"
export * as flags from "./consensus/flags.ts"
export * as params from "./consensus/params.ts"
export * as subsidy from "./consensus/subsidy.ts"
export { verifyTransaction } from "./consensus/verifyInput.ts"
