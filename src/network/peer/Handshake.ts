import type { ConnectionType, Disconnection, Hello } from "../Peer.ts"
import type { Message } from "../wire/message.ts"
import { cleanUserAgent, Services, type Version, type VersionAddress } from "../wire/messages/version.ts"
import type { NetAddress } from "../wire/netAddress.ts"
import { isRoutable } from "../wire/netGroup.ts"

// The handshake (reference/protocol.md 6.5; upstream `net_processing.cpp`, `ProcessMessage`):
//
//   outbound: version →            ← version           wtxidrelay, sendaddrv2, verack →   ← (features) verack
//   inbound:            version →  ← version, wtxidrelay, sendaddrv2, verack               (features) verack →
//
// Other messages before `verack` are ignored. A feeler's handshake is complete with the peer's `version`.

/** See reference/protocol.md 6.2. */
export const PROTOCOL_VERSION = 110_016

export const MIN_PEER_VERSION = 31_800

/** Lowest common versions for sending each message. */
const WTXID_RELAY_VERSION = 110_016
const ADDR_V2_VERSION = 70_016

const HANDSHAKE_COMMANDS: ReadonlySet<string> = new Set(["version", "verack", "wtxidrelay", "sendaddrv2"])

export const isHandshakeCommand = (command: string): boolean => HANDSHAKE_COMMANDS.has(command)

export interface Introduction {
  readonly services: bigint
  readonly userAgent: string
  readonly startHeight: number
  /** Never 0. */
  readonly nonce: bigint
  /** Whether the nonce of an inbound connection belongs to one of our outbound ones. */
  readonly isOwnNonce: (nonce: bigint) => boolean
  /** Whether our tip is recent, so that a peer without old blocks suffices (reference/protocol.md 6.3). */
  readonly nearTip: boolean
  readonly blocksOnly?: boolean
}

export interface HandshakeOptions extends Introduction {
  readonly type: ConnectionType
  readonly address: NetAddress
  readonly port: number
  readonly expectedServices: bigint
}

export interface HandshakeStep {
  readonly send: ReadonlyArray<Message>
  readonly hello?: Hello
  readonly disconnection?: Disconnection
}

const NOTHING: HandshakeStep = { send: [] }

const disconnecting = (reason: string): HandshakeStep => ({ send: [], disconnection: { reason, misbehaving: false } })

const NOWHERE: VersionAddress = {
  services: 0n,
  address: { network: "ipv6", bytes: new Uint8Array(16) },
  port: 0
}

const needsServices = (type: ConnectionType): boolean =>
  type === "outbound-full-relay" || type === "block-relay-only" || type === "addr-fetch"

const relaysTransactions = (type: ConnectionType): boolean => type !== "block-relay-only" && type !== "feeler"

const FULL = Services.network | Services.witness
const LIMITED = Services.networkLimited | Services.witness

/** See reference/protocol.md 6.3. */
export const offersEnough = (services: bigint, nearTip: boolean): boolean =>
  (services & FULL) === FULL || (nearTip && (services & LIMITED) === LIMITED)

/** One side of the handshake. Times are in seconds since 1970. */
export class Handshake {
  private readonly options: HandshakeOptions
  private theirs: Version | undefined
  private timeOffset = 0
  private wtxidRelay = false
  private addrV2 = false

  constructor(options: HandshakeOptions) {
    this.options = options
  }

  open(now: number): ReadonlyArray<Message> {
    return this.options.type === "inbound" ? [] : [this.ownVersion(now)]
  }

  received(message: Message, now: number): HandshakeStep {
    if (message.type === "version") return this.theirs === undefined ? this.introduced(message, now) : NOTHING
    if (this.theirs === undefined) return NOTHING
    const common = Math.min(this.theirs.version, PROTOCOL_VERSION)
    if (message.type === "wtxidrelay") this.wtxidRelay = common >= WTXID_RELAY_VERSION
    else if (message.type === "sendaddrv2") this.addrV2 = true
    else if (message.type === "verack") return { send: [], hello: this.hello(this.theirs, common) }
    return NOTHING
  }

  private introduced(theirs: Version, now: number): HandshakeStep {
    const { isOwnNonce, nearTip, type } = this.options
    if (needsServices(type) && !offersEnough(theirs.services, nearTip)) {
      return disconnecting("missing services: the peer does not offer the services that this node needs")
    }
    if (theirs.version < MIN_PEER_VERSION) return disconnecting(`obsolete protocol version ${theirs.version}`)
    const inbound = type === "inbound"
    if (inbound && theirs.sender !== undefined && isOwnNonce(theirs.sender.nonce)) {
      return disconnecting("self connection: the peer is this node")
    }
    this.theirs = theirs
    this.timeOffset = theirs.time - now
    const common = Math.min(theirs.version, PROTOCOL_VERSION)
    const send: Array<Message> = inbound ? [this.ownVersion(now)] : []
    if (common >= WTXID_RELAY_VERSION) send.push({ type: "wtxidrelay" })
    if (common >= ADDR_V2_VERSION) send.push({ type: "sendaddrv2" })
    send.push({ type: "verack" })
    // A feeler is done once the address answers (upstream `net_processing.cpp`, `ProcessMessage`).
    return type === "feeler" ? { send, hello: this.hello(theirs, common) } : { send }
  }

  private ownVersion(now: number): Version {
    const { address, blocksOnly = false, expectedServices, nonce, port, services, startHeight, type, userAgent } =
      this.options
    return {
      type: "version",
      version: PROTOCOL_VERSION,
      services,
      time: now,
      // Never sends the peer an address that is unroutable or does not fit.
      receiver: isRoutable(address) ? { services: expectedServices, address, port } : NOWHERE,
      sender: { address: { ...NOWHERE, services }, nonce },
      userAgent,
      startHeight,
      relay: relaysTransactions(type) && !blocksOnly
    }
  }

  private hello(theirs: Version, commonVersion: number): Hello {
    const { address, port } = theirs.receiver
    return {
      version: theirs.version,
      commonVersion,
      services: theirs.services,
      userAgent: cleanUserAgent(theirs.userAgent ?? ""),
      startHeight: theirs.startHeight ?? 0,
      relay: theirs.relay ?? true,
      timeOffset: this.timeOffset,
      wtxidRelay: this.wtxidRelay,
      addrV2: this.addrV2,
      ourAddress: isRoutable(address) ? { address, port } : undefined
    }
  }
}
