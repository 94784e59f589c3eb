import { LOCKED } from "./walletContext.ts"

/** Version of the reference node's own payments. */
export const PAYMENT_VERSION = 1

/** Errors of methods that make a payment at once. */
export const PAYMENT_ERRORS = [
  "-4 Error: Private keys are disabled for this wallet",
  "-6 Insufficient funds",
  "-6 Transaction amount too small",
  "-6 The total exceeds your balance when the <fee> transaction fee is included.",
  `-13 ${LOCKED}`
]
