import * as Schema from "effect/Schema"
import { lasting } from "../base/verdict.ts"
import { formatAmount } from "../protocol/amount.ts"

/** The wallet is locked, or unlocked for renewals only and asked for another signature. */
export class KeysLocked extends Schema.TaggedError<KeysLocked>()("KeysLocked", {
  /** Why the transaction is not a renewal; empty for another use of the keys. */
  renewalsOnly: Schema.optional(Schema.String)
}) {
  override get message(): string {
    const { renewalsOnly } = this
    if (renewalsOnly === undefined) return "the wallet is locked"
    return `the wallet is unlocked for renewals only${renewalsOnly === "" ? "" : `: ${renewalsOnly}`}`
  }
}

export class WalletWatchOnly extends Schema.TaggedError<WalletWatchOnly>()("WalletWatchOnly", {}) {
  override get message(): string {
    return "the wallet has no private keys"
  }
}

export class WrongPassphrase extends Schema.TaggedError<WrongPassphrase>()("WrongPassphrase", {}) {
  override get message(): string {
    return "the passphrase is wrong"
  }
}

export class FundsMissing extends Schema.TaggedError<FundsMissing>()("FundsMissing", {
  /** In smallest units, without the fee. */
  needed: Schema.Number,
  available: Schema.Number,
  /** The fee, if only the fee is lacking. */
  fee: Schema.optional(Schema.Number),
  /** A requested coin that is not spendable, as `outpointKey`. */
  missing: Schema.optional(Schema.String)
}) {
  override get message(): string {
    const lacking = this.needed + (this.fee ?? 0) - this.available
    return this.missing === undefined
      ? `${formatAmount(lacking)} NMC are missing`
      : "a requested coin is not spendable"
  }
}

/** `code` identifies the reason for callers with their own texts. */
export class InvalidWalletRequest extends Schema.TaggedError<InvalidWalletRequest>()("InvalidWalletRequest", {
  code: Schema.Literal(
    "no-keys",
    "no-words",
    "used-up",
    "beyond-words",
    "no-change",
    "address-type",
    "descriptor",
    "not-encrypted",
    "already-encrypted",
    "empty-passphrase",
    "unknown-transaction",
    "not-eligible",
    "spent",
    "too-small",
    "low-fee-rate",
    "nothing-paid",
    "below-fee",
    "too-large",
    "overweight",
    "long-chain",
    "fee-too-high",
    "no-fee-estimate",
    "unsolvable",
    "scanning",
    "aborted",
    "range",
    "exists",
    "missing",
    "not-final",
    "pruned",
    "behind-pruned"
  ),
  reason: Schema.String,
  /** Warnings of an import before its failure. */
  warnings: Schema.optional(Schema.Array(Schema.String))
}) {
  override get message(): string {
    return this.reason
  }
}

export const invalidRequest = (code: InvalidWalletRequest["code"], reason: string): InvalidWalletRequest =>
  new InvalidWalletRequest({ code, reason })

/** The state of the name forbids the operation. `reason` is the reference node's text. */
export class NameOperationRefused extends Schema.TaggedError<NameOperationRefused>()("NameOperationRefused", {
  code: Schema.Literal("exists", "registering", "pending", "unknown", "no-new", "too-long", "mismatch", "incomplete"),
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** The file is unreadable or contradicts itself. It stays unchanged. */
export class WalletDamaged extends Schema.TaggedError<WalletDamaged>()("WalletDamaged", {
  file: Schema.String,
  found: Schema.String
}, lasting(500)) {
  override get message(): string {
    return `${this.file} is not a wallet that can be used: ${this.found}. It was left as it is. Move it away and put the ` +
      "newest copy in its place (of \"svcd-cli backup\", or of the file); without one \"svcd-wallet recover\" makes its keys " +
      "from the words"
  }
}
