import * as Effect from "effect/Effect"
import { type Bytes, fromHex, isHex } from "../protocol/bytes.ts"
import { encodeText } from "../protocol/nameText.ts"
import type { NetworkName } from "../protocol/networks.ts"
import { integerWithin, type Json, JsonNumber, JsonObject } from "../rpc/json/json.ts"
import { DaemonRefused } from "./errors.ts"
import type { Freshness } from "./NameClient.ts"
import { type FixedPart, valueText } from "./record.ts"

/** Decoders for the replies of a daemon. A server that replies in another form is refused. */

const unexpected = (method: string): DaemonRefused =>
  new DaemonRefused({
    reason: `the daemon's reply to ${method} is invalid: check that a Namecoin daemon answers at this address`
  })

/** Decodes a reply. An invalid one is a failure and not a defect, because the daemon is not part of this program. */
export const reading = <A>(method: string, reply: Json, read: (reply: Json) => A | undefined) =>
  Effect.suspend((): Effect.Effect<A, DaemonRefused> => {
    const found = read(reply)
    return found === undefined ? unexpected(method) : Effect.succeed(found)
  })

export const textReply = (json: Json | undefined): string | undefined => typeof json === "string" ? json : undefined

export const integerReply = (json: Json | undefined): number | undefined =>
  json instanceof JsonNumber ? integerWithin(json, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER) : undefined

const hexBytes = (json: Json | undefined): Bytes | undefined => {
  const given = textReply(json)
  return given !== undefined && (given === "" || isHex(given)) ? fromHex(given) : undefined
}

const HASH = /^[0-9a-f]{64}$/

/** A txid or a block hash. */
export const hashReply = (json: Json | undefined): string | undefined => {
  const given = textReply(json)
  return given !== undefined && HASH.test(given) ? given : undefined
}

const NETWORKS: ReadonlyMap<string, NetworkName> = new Map([
  ["main", "mainnet"],
  ["test", "testnet"],
  ["regtest", "regtest"]
])

export interface ChainInfo {
  /** `undefined` for an unknown network. */
  readonly network: NetworkName | undefined
  /** The daemon's name for the network. */
  readonly chain: string
  /** Hash of the last block. */
  readonly best: string
  readonly asOf: Freshness
}

/** `getblockchaininfo`. */
export const chainInfo = (reply: Json): ChainInfo | undefined => {
  if (!(reply instanceof JsonObject)) return undefined
  const [chain, blocks, headers] = [
    textReply(reply.get("chain")),
    integerReply(reply.get("blocks")),
    integerReply(reply.get("headers"))
  ]
  const downloading = reply.get("initialblockdownload")
  const best = hashReply(reply.get("bestblockhash"))
  if (chain === undefined || blocks === undefined || best === undefined) return undefined
  const synced = downloading !== true && (headers === undefined || headers <= blocks)
  return { chain, best, network: NETWORKS.get(chain), asOf: { height: blocks, synced } }
}

/** A record in the form of `name_show` and `name_scan`, with names and values in hexadecimal digits. */
export interface ShownName {
  readonly name: Bytes
  readonly shown: FixedPart | undefined
  readonly expiresIn: number
  readonly expired: boolean
}

/** Maximum bytes of a name and of a value (consensus): a longer one is refused. */
const MAX_NAME = 255
const MAX_VALUE = 1_023

/** The reply's placeholder for the address of a script that has none. */
const NO_ADDRESS = /^<.*>$/

export const nameReply = (reply: Json): ShownName | undefined => {
  if (!(reply instanceof JsonObject)) return undefined
  const [name, value] = [hexBytes(reply.get("name")), hexBytes(reply.get("value"))]
  const [txid, height, expiresIn] = [
    hashReply(reply.get("txid")),
    integerReply(reply.get("height")),
    integerReply(reply.get("expires_in"))
  ]
  const expired = reply.get("expired")
  if (name === undefined || value === undefined || txid === undefined) return undefined
  if (height === undefined || expiresIn === undefined) return undefined
  if (name.length > MAX_NAME || value.length > MAX_VALUE) return undefined
  const address = textReply(reply.get("address")) ?? ""
  const nameText = encodeText(name, "utf8")
  return {
    name,
    shown: nameText === undefined ? undefined : {
      name: nameText,
      ...valueText(value),
      address: NO_ADDRESS.test(address) ? "" : address,
      txid,
      height
    },
    expiresIn,
    expired: typeof expired === "boolean" ? expired : expiresIn <= 0
  }
}

/** A list whose every element is decoded. */
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

/** The fields of `gettransaction` for the confirmation of a transaction. */
export interface Confirmed {
  /** Negative if a confirmed transaction conflicts with it. */
  readonly confirmations: number
  readonly height: number | undefined
}

export const confirmed = (reply: Json): Confirmed | undefined => {
  if (!(reply instanceof JsonObject)) return undefined
  const confirmations = integerReply(reply.get("confirmations"))
  return confirmations === undefined ? undefined : { confirmations, height: integerReply(reply.get("blockheight")) }
}

/** The fields of `getblockheader` for the place of a block. */
export interface HeaderPlace {
  readonly height: number
  /** Negative for a block outside the best chain. */
  readonly confirmations: number
  readonly previous: string | undefined
}

export const headerPlace = (reply: Json): HeaderPlace | undefined => {
  if (!(reply instanceof JsonObject)) return undefined
  const [height, confirmations] = [integerReply(reply.get("height")), integerReply(reply.get("confirmations"))]
  return height === undefined || confirmations === undefined
    ? undefined
    : { height, confirmations, previous: hashReply(reply.get("previousblockhash")) }
}
