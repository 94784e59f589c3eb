import { binaryString, type Bytes, fromBinaryString } from "../../../protocol/bytes.ts"
import type { Reader } from "../../../protocol/Reader.ts"
import type { Writer } from "../../../protocol/Writer.ts"
import { codec, emptyCodec, readPort, writePort } from "../codec.ts"
import { fromIpv6, type NetAddress, toIpv6 } from "../netAddress.ts"

/** See reference/protocol.md 6.5. */

/** Protocol: upstream `net.h`, `MAX_SUBVERSION_LENGTH`. */
const MAX_USER_AGENT = 256

/** Bits of `services` (reference/protocol.md 6.3). */
export const Services = {
  network: 0x1n,
  bloom: 0x4n,
  witness: 0x8n,
  compactFilters: 0x40n,
  networkLimited: 0x400n,
  p2pV2: 0x800n
} as const

/** Without the time of `addr`. */
export interface VersionAddress {
  readonly services: bigint
  readonly address: NetAddress
  readonly port: number
}

/** The first message of each side. Old peers may omit trailing fields, which are then all `undefined`. */
export interface Version {
  readonly type: "version"
  /** Signed 32-bit. */
  readonly version: number
  readonly services: bigint
  /** The sender's clock: seconds since 1970. */
  readonly time: number
  /** The receiver's address as the sender sees it. */
  readonly receiver: VersionAddress
  /** Present with the nonce. The address has no meaning. */
  readonly sender: { readonly address: VersionAddress; readonly nonce: bigint } | undefined
  /** One character per byte, of any value. Use `cleanUserAgent` for display. */
  readonly userAgent: string | undefined
  /** Signed 32-bit. */
  readonly startHeight: number | undefined
  /** Whether the sender wants transactions announced (BIP 37). True if absent. */
  readonly relay: boolean | undefined
}

const readVersionAddress = (reader: Reader): VersionAddress => ({
  services: reader.u64("services"),
  address: fromIpv6(reader.bytes(16, "address")),
  port: readPort(reader)
})

const writeVersionAddress = (writer: Writer, { address, port, services }: VersionAddress): void => {
  writer.u64(services).bytes(toIpv6(address))
  writePort(writer, port)
}

const readVersion = (reader: Reader): Version => {
  const optional = <A>(read: () => A): A | undefined => reader.remaining > 0 ? read() : undefined
  return {
    type: "version",
    version: reader.i32("version"),
    services: reader.u64("services"),
    time: reader.i64("time"),
    receiver: readVersionAddress(reader),
    sender: optional(() => ({ address: readVersionAddress(reader), nonce: reader.u64("nonce") })),
    userAgent: optional(() =>
      binaryString(reader.bytes(reader.compactSize("user agent", MAX_USER_AGENT), "user agent"))
    ),
    startHeight: optional(() => reader.i32("start height")),
    relay: optional(() => reader.u8("relay") !== 0)
  }
}

const writeVersion = (writer: Writer, message: Version): void => {
  writer.i32(message.version).u64(message.services).i64(message.time)
  writeVersionAddress(writer, message.receiver)
  if (message.sender === undefined) return
  writeVersionAddress(writer, message.sender.address)
  writer.u64(message.sender.nonce)
  if (message.userAgent === undefined) return
  writer.varBytes(fromBinaryString(message.userAgent))
  if (message.startHeight === undefined) return
  writer.i32(message.startHeight)
  if (message.relay !== undefined) writer.u8(message.relay ? 1 : 0)
}

export const versionCodec = codec(readVersion, writeVersion)

/** Removes characters that the reference node does not show (upstream `SanitizeString`). */
export const cleanUserAgent = (userAgent: string): string => userAgent.replace(/[^A-Za-z0-9 .,;\-_/:?@()]/g, "")

export interface Verack {
  readonly type: "verack"
}

export const verack = emptyCodec<Verack>({ type: "verack" })

/** Announcements and requests by wtxid (BIP 339). Valid between `version` and `verack`. */
export interface WtxidRelay {
  readonly type: "wtxidrelay"
}

export const wtxidrelay = emptyCodec<WtxidRelay>({ type: "wtxidrelay" })

/** Requests `addrv2` instead of `addr` (BIP 155). Valid between `version` and `verack`. */
export interface SendAddrV2 {
  readonly type: "sendaddrv2"
}

export const sendaddrv2 = emptyCodec<SendAddrV2>({ type: "sendaddrv2" })

/** Offers transaction set reconciliation (BIP 330). */
export interface SendTxRcncl {
  readonly type: "sendtxrcncl"
  readonly version: number
  readonly salt: bigint
}

export const sendtxrcncl = codec<SendTxRcncl>(
  (reader) => ({ type: "sendtxrcncl", version: reader.u32("version"), salt: reader.u64("salt") }),
  (writer, { salt, version }) => writer.u32(version).u64(salt)
)

export interface Alert {
  readonly type: "alert"
  readonly payload: Bytes
  readonly signature: Bytes
}

export const alert = codec<Alert>(
  (reader) => ({ type: "alert", payload: reader.varBytes("alert"), signature: reader.varBytes("signature") }),
  (writer, { payload, signature }) => writer.varBytes(payload).varBytes(signature)
)
