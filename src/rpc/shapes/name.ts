import * as Schema from "effect/Schema"
import { OUTLOOK_STATES, outlookText, URGENCIES } from "../../base/outlookWords.ts"
import type { ProofLevel } from "../../light/proof.ts"
import type { NameClock } from "../../names/NameDb.ts"
import { blocksToExpiry } from "../../names/NameEntry.ts"
import { addressOf } from "../../protocol/address.ts"
import { type Bytes, displayHash, toHex } from "../../protocol/bytes.ts"
import { addressScript, type NameOperation } from "../../protocol/nameOperation.ts"
import { encodeText, type NameEncoding } from "../../protocol/nameText.ts"
import type { Network } from "../../protocol/networks.ts"
import type { NameOutlook } from "../../wallet/names/WalletNames.ts"
import { encodeJson, RawJson } from "../json/encodeJson.ts"
import { flat } from "../json/json.ts"
import * as Result from "../method/results.ts"
import type { NameEncodings, ShapeContext } from "./context.ts"

/** Names in answers (reference/rpc.md 3.0, 5.1; reference/protocol.md 7.4). */

const NAME = Schema.optional(Result.string("The name"))
const NAME_ENCODING = Result.string("Encoding of the name: ascii, utf8 or hex")
const NAME_ERROR = Schema.optional(Result.string("Instead of the name: why this encoding cannot represent it"))
const VALUE = Schema.optional(Result.string("The value"))
const VALUE_ENCODING = Result.string("Encoding of the value: ascii, utf8 or hex")
const VALUE_ERROR = Schema.optional(Result.string("Instead of the value: why this encoding cannot represent it"))

/** An operation that sets the record, confirmed or not. */
export const NAME_OUTPUT_MEMBERS = {
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: NAME_ENCODING,
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: VALUE_ENCODING,
  txid: Result.hex("The transaction of the operation"),
  vout: Result.integer("Index of the output with the name"),
  address: Result.string("The owner's address; <nonstandard> for a script without one")
}

export const IS_MINE = Schema.optional(
  Result.needing(
    "names",
    Result.boolean("Whether the wallet of the call owns it; missing if no single wallet is selected")
  )
)

const NAME_EXPIRY_MEMBERS = {
  height: Result.integer("Height of the operation"),
  expires_in: Result.integer("Blocks until the record expires; 0 or less if it has expired"),
  expired: Result.boolean("Whether the record has expired")
}

/** Not in Core. Present on request, or if the answer rests on less than Core's. */
export const PROOF = Schema.optional(
  Result.string(
    "What the answer rests on: work, signatures or full. Missing for full, unless the call has requireProof"
  )
)

export const NAME_INFO = Schema.Struct({
  ...NAME_OUTPUT_MEMBERS,
  ...NAME_EXPIRY_MEMBERS,
  ismine: IS_MINE,
  proof: PROOF
})

export const NAME_OP = Schema.Struct({
  op: Result.string("name_new, name_firstupdate or name_update"),
  hash: Schema.optional(Result.hex("The commitment of a name_new, which has no other members")),
  name: NAME,
  name_error: NAME_ERROR,
  name_encoding: Schema.optional(NAME_ENCODING),
  value: VALUE,
  value_error: VALUE_ERROR,
  value_encoding: Schema.optional(VALUE_ENCODING),
  rand: Schema.optional(Result.hex("The salt of a name_firstupdate"))
})

export const NAME_TEXT_MEMBERS = { name: NAME, name_error: NAME_ERROR, name_encoding: NAME_ENCODING }

/** For a registration whose name_new is not sent yet. */
export const UNSENT_TXID = "0".repeat(64)

/** `name_registrations`; the client reads it too. */
export const REGISTRATION_MEMBERS = {
  ...NAME_TEXT_MEMBERS,
  value: Schema.optional(Result.string("The value to set; missing after name_new alone")),
  value_error: Schema.optional(Result.string("Instead of the value: why this encoding cannot represent it")),
  value_encoding: Schema.optional(Result.string("Encoding of the value: ascii, utf8 or hex")),
  txid: Result.hex("The transaction of name_new; zeros while the registration waits for a block before it is sent"),
  rand: Result.hex("The salt of its commitment"),
  firstupdate_txid: Schema.optional(Result.hex("The transaction of name_firstupdate, once sent")),
  step: Result.oneOf(
    "committed: name_new is sent; maturing: name_new is confirmed and waits for its depth; revealed: " +
      "name_firstupdate is sent; done; failed",
    "committed",
    "maturing",
    "revealed",
    "done",
    "failed"
  ),
  note: Schema.optional(Result.string("What the registration waits for, or why it failed")),
  time: Result.time("Start of the registration")
}

/** `outlook` of a wallet's name: not in Core. */
export const OUTLOOK_MEMBERS = {
  state: Result.oneOf(
    "renews: the wallet renews it in time; locked: it would, but is locked, or will be when the renewal is due; " +
      "unsigned: the wallet makes a PSBT in time, and another machine signs it; no-coins: it lacks coins for the fee; failing: another reason prevents the renewal; by-hand: the owner must " +
      "renew it; pending: its renewal is unconfirmed; leaving: its transfer to another owner is unconfirmed; " +
      "too-late: it expires with the next block; free: it expired, and anyone can register it; taken: it expired, and " +
      "another owner has registered it; expired: it expired, and the node does not know yet whether another owner has " +
      "it; given: the wallet gave it away",
    ...OUTLOOK_STATES
  ),
  urgency: Result.oneOf("ok, notice, warning or alarm; act from warning on", ...URGENCIES),
  text: Result.string("The same in words, which follow the name"),
  locks_at: Schema.optional(
    Result.time("For locked: when an unlocked wallet locks, before the renewal is due; missing if it is locked")
  ),
  pending_txid: Schema.optional(Result.hex("For pending: the transaction of the renewal, for bumpfee")),
  acknowledged: Schema.optional(
    Result.boolean("true if the owner knows of this (name_acknowledge), so that nothing warns of it; otherwise missing")
  )
}

export const outlookJson = (
  { acknowledged, outlook }: Pick<NameOutlook, "acknowledged" | "outlook">
): Result.MembersOf<typeof OUTLOOK_MEMBERS> => ({
  state: outlook.state,
  urgency: outlook.urgency,
  text: outlookText(outlook),
  locks_at: outlook.until,
  pending_txid: outlook.txid,
  acknowledged: acknowledged ? true : undefined
})

const undecodable = (encoding: NameEncoding): string => `invalid data for ${encoding}`

export const nameTextJson = (bytes: Bytes, encoding: NameEncoding) => {
  const text = encodeText(bytes, encoding)
  return text === undefined
    ? { name_error: undecodable(encoding), name_encoding: encoding }
    : { name: text, name_encoding: encoding }
}

export const valueTextJson = (bytes: Bytes, encoding: NameEncoding) => {
  const text = encodeText(bytes, encoding)
  return text === undefined
    ? { value_error: undecodable(encoding), value_encoding: encoding }
    : { value: text, value_encoding: encoding }
}

/** Source: upstream `core_io.cpp`, `NameOpToUniv`. */
export const nameOpJson = (
  operation: NameOperation,
  { nameEncoding, valueEncoding }: NameEncodings
): Result.ValueOf<typeof NAME_OP> => {
  if (operation.op === "name_new") return { op: operation.op, hash: toHex(operation.commitment) }
  return {
    op: operation.op,
    ...nameTextJson(operation.name, nameEncoding),
    ...valueTextJson(operation.value, valueEncoding),
    rand: operation.op === "name_firstupdate" ? toHex(operation.rand) : undefined
  }
}

export interface NameOutput {
  readonly name: Bytes
  readonly value: Bytes
  /** Wire order. */
  readonly txid: Bytes
  readonly vout: number
  /** The script after the name prefix. */
  readonly address: Bytes
}

export interface ConfirmedName extends NameOutput {
  /** Height of the name's last operation. */
  readonly height: number
}

/**
 * A placeholder for scripts without an address (reference/protocol.md 5.3). Like upstream's `ExtractDestination`,
 * strips a second name prefix.
 */
export const ownerAddress = (network: Network, script: Bytes): string =>
  addressOf(network, addressScript(script)) ?? "<nonstandard>"

/** The members that need only the operation. Source: upstream `rpc/names.cpp`, `getNameInfo`. */
export const nameOutputJson = (
  context: ShapeContext,
  output: NameOutput
): Result.MembersOf<typeof NAME_OUTPUT_MEMBERS> => ({
  ...nameTextJson(output.name, context.nameEncoding),
  ...valueTextJson(output.value, context.valueEncoding),
  txid: displayHash(output.txid),
  vout: output.vout,
  address: ownerAddress(context.network, output.address)
})

/** As of the tip. Source: upstream `rpc/names.cpp`, `addExpirationInfo`. */
export const nameExpiryJson = (
  height: number,
  clock: NameClock
): Result.MembersOf<typeof NAME_EXPIRY_MEMBERS> => {
  const expiresIn = blocksToExpiry({ height }, clock)
  return { height, expires_in: expiresIn, expired: expiresIn <= 0 }
}

/** With a wallet, the caller appends `ismine`. */
export const nameInfoJson = (
  context: ShapeContext,
  record: ConfirmedName,
  clock: NameClock
): Result.ValueOf<typeof NAME_INFO> => ({
  ...nameOutputJson(context, record),
  ...nameExpiryJson(record.height, clock)
})

export const nameRow = (
  context: ShapeContext,
  record: ConfirmedName,
  { ismine, now, proof }: {
    readonly now: NameClock
    readonly ismine: boolean | undefined
    readonly proof: ProofLevel | undefined
  }
): Result.ValueOf<typeof NAME_INFO> => ({ ...nameInfoJson(context, record, now), ismine, proof })

interface KeptText {
  readonly context: Pick<ShapeContext, "network" | "nameEncoding" | "valueEncoding">
  readonly clock: NameClock
  readonly json: RawJson<Schema.Schema.Type<typeof NAME_INFO>>
  /** Characters before those that depend on the clock. */
  readonly ageless: number
}

/** Characters. Longer texts are not cached, to save memory. */
const MAX_KEPT = 2_048

/** Cached JSON as of the tip of the last call, which lives as long as its record. */
const kept = new WeakMap<ConfirmedName, KeptText>()

/** Without `ismine`. Encoding takes several times as long as finding the record, so all callers share the text. */
const wholeText = (context: ShapeContext, record: ConfirmedName, clock: NameClock): KeptText["json"] => {
  const found = kept.get(record)
  const known = found !== undefined && found.context.network === context.network &&
      found.context.nameEncoding === context.nameEncoding && found.context.valueEncoding === context.valueEncoding
    ? found
    : undefined
  if (known !== undefined && known.clock.tipHeight === clock.tipHeight && known.clock.params === clock.params) {
    return known.json
  }
  const output = known === undefined
    ? encodeJson(nameOutputJson(context, record)).slice(0, -1)
    : known.json.text.slice(0, known.ageless)
  const json: KeptText["json"] = new RawJson(
    flat(`${output},${encodeJson(nameExpiryJson(record.height, clock)).slice(1)}`)
  )
  if (output.length <= MAX_KEPT) {
    const { nameEncoding, network, valueEncoding } = context
    kept.set(record, { context: { network, nameEncoding, valueEncoding }, clock, json, ageless: output.length })
  }
  return json
}

/** The text of `nameInfoJson`, with `ismine` if known. */
export const nameInfoText = (
  context: ShapeContext,
  record: ConfirmedName,
  { clock, ismine }: { readonly clock: NameClock; readonly ismine: boolean | undefined }
): RawJson<Schema.Schema.Type<typeof NAME_INFO>> => {
  const json = wholeText(context, record, clock)
  return ismine === undefined ? json : new RawJson(`${json.text.slice(0, -1)},"ismine":${ismine}}`)
}
