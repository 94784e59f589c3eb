import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { MAX_NAME_LENGTH, MAX_VALUE_LENGTH } from "../consensus/names.ts"
import { PROOF_LEVELS, type ProofLevel } from "../light/proof.ts"
import { SYNC_PHASES, type SyncReport } from "../light/syncReport.ts"
import { type Bytes, fromHex, isHex } from "../protocol/bytes.ts"
import { networkOfChain } from "../protocol/chainNames.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { SYNC_STATUS } from "../rpc/contract/chain/chain.ts"
import { WALLET_TRANSACTION } from "../rpc/contract/wallet/walletTransactions.ts"
import { type Json, JsonObject } from "../rpc/json/json.ts"
import type { Contract } from "../rpc/method/contract.ts"
import * as Result from "../rpc/method/results.ts"
import { CHAIN_INFO, HEADER } from "../rpc/shapes/block.ts"
import { NAME_INFO, REGISTRATION_MEMBERS } from "../rpc/shapes/name.ts"
import { DaemonRefused } from "./errors.ts"
import { valueText } from "./record.ts"
import { type FixedPart, type Freshness, freshnessOf } from "./records.ts"

/** Decoders for the replies of a daemon: parts of the result schemas of svcd's methods. Other forms are refused. */

const unexpected = ({ name }: Contract): DaemonRefused =>
  new DaemonRefused({
    reason: `the daemon's reply to ${name} is invalid: check that a Namecoin daemon answers at this address`
  })

/** An invalid reply is a failure and not a defect, because it comes from another program. */
export const reading = <A>(contract: Contract, reply: Json, read: (reply: Json) => A | undefined) =>
  Effect.suspend((): Effect.Effect<A, DaemonRefused> => {
    const found = read(reply)
    return found === undefined ? unexpected(contract) : Effect.succeed(found)
  })

export const partOf = <A, I>(schema: Schema.Schema<A, I>): (reply: Json) => A | undefined => {
  const decode = Schema.decodeUnknownOption(schema)
  return (reply) => Option.getOrUndefined(decode(Result.plainAnswer(reply)))
}

/**
 * An optional member. Other programs omit it, write `null` or mean something else: an unknown form is read as missing.
 */
const spare = <A, I>(member: Schema.Schema<A, I>) =>
  Schema.optional(
    Schema.UndefinedOr(member).annotations({ decodingFallback: () => Effect.succeed(undefined) })
  )

export const textReply = partOf(Schema.String)

const HASH = Result.hex("A hash").pipe(Schema.length(64))
export const hashReply = partOf(HASH)

/** Larger integers lose digits, and mean nothing here. */
const safe = <I>(integer: Schema.Schema<number, I>) => integer.pipe(Schema.filter(Number.isSafeInteger))

export const countReply = partOf(safe(Result.integer("Number of peers")))

export interface ChainInfo {
  readonly network: NetworkName | undefined
  readonly chain: string
  readonly best: string
  readonly asOf: Freshness
  readonly headers: number
  /** The checked part of the chain, 0 to 1. */
  readonly progress: number | undefined
}

const readInfo = partOf(Schema.Struct({
  chain: CHAIN_INFO.fields.chain,
  blocks: safe(CHAIN_INFO.fields.blocks),
  bestblockhash: HASH,
  headers: spare(safe(CHAIN_INFO.fields.headers)),
  initialblockdownload: spare(CHAIN_INFO.fields.initialblockdownload),
  verificationprogress: spare(CHAIN_INFO.fields.verificationprogress)
}))

export const chainInfo = (reply: Json): ChainInfo | undefined => {
  const info = readInfo(reply)
  if (info === undefined) return undefined
  const { bestblockhash: best, blocks, chain, headers = blocks, initialblockdownload, verificationprogress } = info
  const synced = initialblockdownload !== true && headers <= blocks
  return {
    chain,
    best,
    network: networkOfChain(chain),
    asOf: freshnessOf({ height: blocks, synced, proof: "full" }),
    headers,
    progress: verificationprogress
  }
}

const { headers, height: namesHeight, percent, secondsleft, synced, window } = SYNC_STATUS.fields

const readStatus = partOf(Schema.Struct({
  phase: Schema.Literal(...SYNC_PHASES),
  proof: Schema.Literal(...PROOF_LEVELS),
  height: safe(namesHeight),
  headers: safe(headers),
  synced,
  percent: percent.pipe(Schema.between(0, 100)),
  secondsleft: secondsleft.pipe(Schema.filter((seconds) => seconds === null || seconds >= 0)),
  window
}))

export const syncReply = (reply: Json): SyncReport | undefined => {
  const status = readStatus(reply)
  if (status === undefined) return undefined
  const { secondsleft, window, ...rest } = status
  return { ...rest, secondsLeft: secondsleft ?? undefined, window: window ?? undefined }
}

export interface ShownName {
  readonly name: Bytes
  readonly shown: FixedPart | undefined
  readonly expiresIn: number
  readonly expired: boolean
  /** From svcd only: other daemons check all rules. */
  readonly proof: ProofLevel
}

/** A daemon's text for a script without an address. */
const NO_ADDRESS = /^<.*>$/

export const shownAddress = (address: string): string => NO_ADDRESS.test(address) ? "" : address

const { address, expired, expires_in, height } = NAME_INFO.fields

const readName = partOf(Schema.Struct({
  ...NAME_INFO.pick("name", "value").fields,
  txid: HASH,
  height: safe(height),
  expires_in: safe(expires_in),
  expired: spare(expired),
  address: spare(address),
  proof: spare(Schema.Literal(...PROOF_LEVELS))
}))

const hexBytes = (text: string | undefined): Bytes | undefined =>
  text !== undefined && (text === "" || isHex(text)) ? fromHex(text) : undefined

export const nameReply = (reply: Json): ShownName | undefined => {
  const found = readName(reply)
  const [name, value] = [hexBytes(found?.name), hexBytes(found?.value)]
  if (found === undefined || name === undefined || value === undefined) return undefined
  if (name.length > MAX_NAME_LENGTH || value.length > MAX_VALUE_LENGTH) return undefined
  const { address = "", expires_in: expiresIn, expired = expiresIn <= 0, height, proof = "full", txid } = found
  const nameText = encodeText(name, "utf8")
  return {
    name,
    shown: nameText === undefined ? undefined : {
      name: nameText,
      ...valueText(value),
      address: shownAddress(address),
      txid,
      height
    },
    expiresIn,
    expired,
    proof
  }
}

const readTxid = partOf(Schema.Struct({ txid: HASH }))
export const txidReply = (reply: Json): string | undefined => readTxid(reply)?.txid

export const list = <A>(read: (element: Json) => A | undefined) => (reply: Json): ReadonlyArray<A> | undefined => {
  if (!Array.isArray(reply)) return undefined
  const found: Array<A> = []
  for (const element of reply) {
    const one = read(element)
    if (one === undefined) return undefined
    found.push(one)
  }
  return found
}

const readFound = partOf(Schema.Struct({
  next: spare(Schema.String),
  complete: Result.boolean("Whether nothing is missing"),
  indexed: Result.number("Which part of the names is found")
}))

export const foundReply = (reply: Json) => {
  const found = reply instanceof JsonObject ? reply.get("names") : undefined
  const names = found === undefined ? undefined : list(nameReply)(found)
  const page = readFound(reply)
  return page === undefined || names === undefined ? undefined : { ...page, names }
}

const readConfirmations = partOf(Schema.Struct({
  confirmations: safe(WALLET_TRANSACTION.fields.confirmations),
  blockheight: spare(safe(WALLET_TRANSACTION.fields.blockheight.from))
}))

export interface Confirmed {
  /** Negative if a confirmed transaction conflicts with it. */
  readonly confirmations: number
  readonly height: number | undefined
}

export const confirmed = (reply: Json): Confirmed | undefined => {
  const found = readConfirmations(reply)
  return found === undefined ? undefined : { confirmations: found.confirmations, height: found.blockheight }
}

const readSerialized = partOf(WALLET_TRANSACTION.pick("hex"))

export const serializedReply = (reply: Json): string | undefined => readSerialized(reply)?.hex

/** `confirmations` is negative off the best chain. */
const HEADER_PLACE = Schema.Struct({
  height: safe(HEADER.fields.height),
  confirmations: safe(HEADER.fields.confirmations),
  previousblockhash: spare(HASH)
})
export type HeaderPlace = typeof HEADER_PLACE.Type
export const headerPlace = partOf(HEADER_PLACE)

export const registrationReply = partOf(Schema.Struct({
  ...Schema.Struct(REGISTRATION_MEMBERS).pick("name", "step").fields,
  note: spare(REGISTRATION_MEMBERS.note.from),
  txid: HASH,
  firstupdate_txid: spare(HASH)
}))
