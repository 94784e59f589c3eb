import * as Schema from "effect/Schema"

/** What the desk reads in the answers of RPC. Amounts are in NMC, names and values in hexadecimal digits. */

export const AS_HEX = { nameEncoding: "hex", valueEncoding: "hex" } as const

export const OwnName = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  txid: Schema.String,
  ismine: Schema.Boolean,
  height: Schema.Number,
  expires_in: Schema.Number,
  expired: Schema.Boolean,
  address: Schema.String
})
export type OwnName = typeof OwnName.Type

/** Of a name that any wallet may own, whether it is this one. */
export const ShownOwner = Schema.Struct({ ismine: Schema.optional(Schema.Boolean) })

export const OwnNameList = Schema.Array(OwnName)

export const RegistrationRow = Schema.Struct({
  name: Schema.optional(Schema.String),
  /** Missing after name_new alone, which the owner goes on with by hand. */
  value: Schema.optional(Schema.String),
  step: Schema.Literal("committed", "maturing", "revealed", "done", "failed"),
  note: Schema.optional(Schema.String),
  blocks_left: Schema.optional(Schema.Number),
  txid: Schema.String,
  time: Schema.Number
})
export type RegistrationRow = typeof RegistrationRow.Type

export const Registrations = Schema.Array(RegistrationRow)

export const Renewals = Schema.Array(Schema.Struct({
  name: Schema.optional(Schema.String),
  state: Schema.String,
  note: Schema.optional(Schema.String)
}))

export const Renewing = Schema.Struct({
  all: Schema.Boolean,
  names: Schema.Array(Schema.Struct({ name: Schema.optional(Schema.String) })),
  except: Schema.optional(Schema.Array(Schema.Struct({ name: Schema.optional(Schema.String) })))
})

export const RenewalPlanAnswer = Schema.Struct({
  names: Schema.Array(Schema.Struct({
    name: Schema.optional(Schema.String),
    state: Schema.String,
    fee: Schema.optional(Schema.Number),
    note: Schema.optional(Schema.String)
  })),
  transactions: Schema.Number,
  fee: Schema.optional(Schema.Number),
  left_out: Schema.optional(Schema.Number)
})
export type RenewalPlanAnswer = typeof RenewalPlanAnswer.Type

export const Pending = Schema.Array(Schema.Struct({
  name: Schema.optional(Schema.String),
  value: Schema.optional(Schema.String),
  op: Schema.String,
  txid: Schema.String,
  ismine: Schema.optional(Schema.Boolean)
}))

export const BalancesAnswer = Schema.Struct({
  mine: Schema.Struct({ trusted: Schema.Number, untrusted_pending: Schema.Number, immature: Schema.Number })
})
export type BalancesAnswer = typeof BalancesAnswer.Type

export const WalletInfo = Schema.Struct({
  walletname: Schema.String,
  unlocked_until: Schema.optional(Schema.Number),
  renewals_only: Schema.optional(Schema.Boolean),
  renewals_until: Schema.optional(Schema.Number),
  private_keys_enabled: Schema.Boolean,
  phrase_kept: Schema.optional(Schema.Boolean),
  phrase_checked: Schema.optional(Schema.Number),
  addresses_left: Schema.optional(Schema.Number)
})
export type WalletInfo = typeof WalletInfo.Type

export const WordsCheck = Schema.Struct({ correct: Schema.Boolean })

export const LoadedWallets = Schema.Array(Schema.String)

export const Payment = Schema.Struct({
  address: Schema.optional(Schema.String),
  /** The operation of an output with a name. */
  name: Schema.optional(Schema.String),
  category: Schema.String,
  amount: Schema.Number,
  fee: Schema.optional(Schema.Number),
  confirmations: Schema.Number,
  /** Of its block; missing without one. */
  blockheight: Schema.optional(Schema.Number),
  txid: Schema.String,
  time: Schema.Number
})
export type Payment = typeof Payment.Type

export const Payments = Schema.Array(Payment)

export const AddressCheck = Schema.Struct({ isvalid: Schema.Boolean, error: Schema.optional(Schema.String) })

export const OwnAddress = Schema.Struct({ ismine: Schema.Boolean })

export const PsbtInputs = Schema.Struct({
  tx: Schema.Struct({ vin: Schema.Array(Schema.Struct({ txid: Schema.String, vout: Schema.Number })) })
})

export const Spenders = Schema.Array(Schema.Struct({ spendingtxid: Schema.optional(Schema.String) }))

export const FundedAnswer = Schema.Struct({ psbt: Schema.String, fee: Schema.Number })

export const Signed = Schema.Struct({ psbt: Schema.String, complete: Schema.Boolean })

export const Finished = Schema.Struct({ hex: Schema.optional(Schema.String), complete: Schema.Boolean })

export const FeeRateAnswer = Schema.Struct({ feerate: Schema.optional(Schema.Number) })

export const MempoolAnswer = Schema.Struct({ mempoolminfee: Schema.Number })

export const SyncState = Schema.Struct({ blocks: Schema.Number, initialblockdownload: Schema.Boolean })

export const Text = Schema.String
export const Anything = Schema.Unknown
export const Nothing = Schema.Null
