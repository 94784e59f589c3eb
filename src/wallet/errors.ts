import * as Schema from "effect/Schema"

/** The wallet's secrets are sealed, and nobody has given the passphrase. */
export class KeysLocked extends Schema.TaggedError<KeysLocked>()("KeysLocked", {}) {
  override get message(): string {
    return "the wallet is locked"
  }
}

/** The wallet watches and has no keys. */
export class WalletWatchOnly extends Schema.TaggedError<WalletWatchOnly>()("WalletWatchOnly", {}) {
  override get message(): string {
    return "the wallet has no private keys"
  }
}

/** The passphrase opens nothing. */
export class WrongPassphrase extends Schema.TaggedError<WrongPassphrase>()("WrongPassphrase", {}) {
  override get message(): string {
    return "the passphrase is wrong"
  }
}

/** There is not enough to spend. */
export class FundsMissing extends Schema.TaggedError<FundsMissing>()("FundsMissing", {
  /** What is to be paid without the fee, smallest units. */
  needed: Schema.Number,
  /** What can be spent. */
  available: Schema.Number,
  /** The fee, where the payment alone could be made. */
  fee: Schema.optional(Schema.Number),
  /** A coin that was asked for and is not there to be spent, as `outpointKey`. */
  missing: Schema.optional(Schema.String)
}) {
  override get message(): string {
    const lacking = (this.needed + (this.fee ?? 0) - this.available) / 1e8
    return this.missing === undefined
      ? `${lacking.toFixed(8)} NMC are missing`
      : "a coin that was asked for is not there to be spent"
  }
}

/** Something is asked of the wallet that makes no sense for it. `code` tells what, for whoever has words of his own. */
export class InvalidWalletRequest extends Schema.TaggedError<InvalidWalletRequest>()("InvalidWalletRequest", {
  code: Schema.Literal(
    "no-keys",
    "address-type",
    "descriptor",
    "checksum",
    "not-encrypted",
    "already-encrypted",
    "empty-passphrase",
    "unknown-transaction",
    "not-eligible",
    "too-small",
    "too-large",
    "fee-too-high",
    "no-fee-estimate",
    "scanning",
    "range",
    "exists",
    "missing",
    "not-final"
  ),
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** A name operation that the state of the name forbids. `reason` is the reference node's text. */
export class NameOperationRefused extends Schema.TaggedError<NameOperationRefused>()("NameOperationRefused", {
  code: Schema.Literal("exists", "registering", "pending", "unknown", "no-new", "too-long", "mismatch"),
  reason: Schema.String
}) {
  override get message(): string {
    return this.reason
  }
}

/** A wallet's file does not read, or contradicts itself. It is left as it is. */
export class WalletDamaged extends Schema.TaggedError<WalletDamaged>()("WalletDamaged", {
  file: Schema.String,
  found: Schema.String
}) {
  override get message(): string {
    return `${this.file} is no wallet that can be used: ${this.found}. It was left as it is. Move it away and put the ` +
      "newest copy in its place (of backupwallet, or of the file); without one \"svcd-wallet recover\" makes its keys " +
      "from the words"
  }
}
