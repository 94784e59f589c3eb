import { Effect } from "effect"
import { turnOfEventLoop } from "../../../src/base/turns.ts"
import type { Permission } from "../../../src/config/permissions.ts"
import type { ConnectionType, Disconnection, Features, Hello, Peer } from "../../../src/network/Peer.ts"
import type { Message, MessageOf } from "../../../src/network/wire/message.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { ampleAccount } from "../../support/memory.ts"

/** A peer that records the messages sent to it. */
export interface FakePeer extends Peer {
  readonly sent: Array<Message>
  /** The disconnection, if there was one. */
  readonly disconnection: () => Disconnection | undefined
  /** Returns the messages sent since the last call. */
  readonly take: () => ReadonlyArray<Message>
}

export interface FakePeerOptions {
  readonly id?: number
  readonly type?: ConnectionType
  readonly hello?: Partial<Hello>
  readonly features?: Partial<Features>
  readonly permissions?: ReadonlyArray<Permission>
  /** Runs before a message is accepted, to simulate slow peers. */
  readonly reading?: Effect.Effect<void>
}

const HELLO: Hello = {
  version: 110_016,
  commonVersion: 110_016,
  services: 0x9n,
  userAgent: "/fake/",
  startHeight: 0,
  relay: true,
  timeOffset: 0,
  wtxidRelay: true,
  addrV2: true,
  ourAddress: undefined
}

let ids = 1000

export const fakePeer = (options: FakePeerOptions = {}): FakePeer => {
  const { features, hello, id = ids++, reading = Effect.void, type = "outbound-full-relay" } = options
  const sent: Array<Message> = []
  let disconnection: Disconnection | undefined
  let taken = 0
  return {
    id: peerId(id),
    type,
    inbound: type === "inbound",
    address: { network: "ipv4", bytes: Uint8Array.of(192, 0, 2, id % 256) },
    port: 8334,
    name: `192.0.2.${id % 256}:8334`,
    permissions: new Set(options.permissions),
    bind: undefined,
    connectedAt: 0,
    hello: { ...HELLO, ...hello },
    features: {
      sendHeaders: false,
      compactBlocks: "none",
      feeFilter: 0,
      relay: hello?.relay ?? true,
      bloom: undefined,
      ...features
    },
    traffic: {
      bytesSent: 0,
      bytesReceived: 0,
      lastSend: 0,
      lastReceive: 0,
      sentByCommand: new Map(),
      receivedByCommand: new Map()
    },
    latency: { last: undefined, best: undefined, waiting: undefined },
    get closed() {
      return disconnection !== undefined
    },
    send: (message) => Effect.andThen(reading, Effect.sync(() => void sent.push(message))),
    post: (message) => void sent.push(message),
    memory: ampleAccount(),
    spent: () => {},
    judged: () => {},
    turn: turnOfEventLoop,
    ready: Effect.void,
    disconnect: (reason) => {
      disconnection ??= reason
    },
    sent,
    disconnection: () => disconnection,
    take: () => {
      const news = sent.slice(taken)
      taken = sent.length
      return news
    }
  }
}

/** The messages of one command. */
export const ofType = <C extends Message["type"]>(
  messages: ReadonlyArray<Message>,
  type: C
): ReadonlyArray<Extract<Message, { readonly type: C }>> =>
  messages.filter((message): message is Extract<Message, { readonly type: C }> => message.type === type)

/** The items of all messages of a type. */
export const itemsOf = (messages: ReadonlyArray<Message>, type: "inv" | "getdata" | "notfound") =>
  ofType(messages, type).flatMap((
    { items }: MessageOf<"inv"> | MessageOf<"getdata"> | MessageOf<"notfound">
  ) => [...items])
