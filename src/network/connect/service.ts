import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Address, parseHostPort } from "../../base/addresses.ts"
import { unixTime } from "../../base/clock.ts"
import { formatProxy } from "../../config/proxies.ts"
import { ownUserAgent } from "../../config/userAgent.ts"
import { PeerNotFound } from "../errors.ts"
import type { Peer } from "../Peer.ts"
import type { PeerConnection } from "../peer/PeerConnection.ts"
import type { PeerControl } from "../PeerControl.ts"
import type { PeerHandlers } from "../PeerHandlers.ts"
import type { AddedNode, LocalAddress, PeerInfo } from "../peerInfo.ts"
import { formatEndpoint, formatNetAddress, parseEndpoint } from "../wire/addressText.ts"
import { Services } from "../wire/messages/version.ts"
import { addNode, call, callManually, connectionTo, type Net, removeNode } from "./net.ts"

const NUMBER = /^(?:0x[0-9a-f]+|0[0-7]*|[1-9][0-9]*)$/i

/** As C writes numbers: decimal, octal after a 0, hexadecimal after 0x. */
const parsedNumber = (text: string): number =>
  !NUMBER.test(text) ? NaN : /^0[0-7]/.test(text) ? Number.parseInt(text, 8) : Number(text)

/** Completes a short IPv4 address such as 127.1, whose last number fills the missing ones. */
const spelledOut = (text: string): string => {
  const [, host = "", port = ""] = /^([^:]*)(:[0-9]+)?$/.exec(text) ?? []
  const numbers = host.split(".").map(parsedNumber)
  const last = numbers.pop() ?? NaN
  const missing = 4 - numbers.length
  if (missing < 1 || !(last < 256 ** missing) || !numbers.every((number) => number < 256)) return text
  const filled = Array.from({ length: missing }, (_, i) => Math.floor(last / 256 ** (missing - 1 - i)) % 256)
  return `${[...numbers, ...filled].join(".")}${port}`
}

export const nodeAddress = (text: string, defaultPort: number): Address | undefined => {
  const endpoint = parseEndpoint(spelledOut(text), defaultPort)
  if (endpoint !== undefined) {
    return endpoint.port === 0 ? undefined : { host: formatNetAddress(endpoint.address), port: endpoint.port }
  }
  const withPort = Either.getOrUndefined(parseHostPort(text, "required"))
  return withPort ?? Either.getOrUndefined(parseHostPort(`${text}:${defaultPort}`, "required"))
}

/** Score of an operator's address (upstream `net.h`, `LOCAL_MANUAL`). */
const MANUAL_SCORE = 4

/** Our own addresses: those of the operator and, if trusted, those seen by outbound peers, with our listening port. */
const localAddresses = (
  peers: ReadonlyArray<Peer>,
  { bound, named, trusted }: {
    readonly named: ReadonlyArray<Address>
    readonly bound: Address | undefined
    readonly trusted: boolean
  }
): ReadonlyArray<LocalAddress> => {
  const scores = new Map<string, number>()
  for (const { hello: { ourAddress }, inbound } of peers) {
    if (inbound || ourAddress === undefined) continue
    const text = formatNetAddress(ourAddress.address)
    scores.set(text, (scores.get(text) ?? 0) + 1)
  }
  const own = named.map(({ host, port }) => ({ address: host, port, score: MANUAL_SCORE + (scores.get(host) ?? 0) }))
  const seen = trusted && bound !== undefined
    ? [...scores].filter(([host]) => !own.some(({ address }) => address === host))
    : []
  return [...own, ...seen.map(([address, score]) => ({ address, port: bound?.port ?? 0, score }))]
}

const addedNode = (net: Net, node: string, target: Address): AddedNode => {
  const connection = connectionTo(net, node, target)
  return {
    node,
    connected: connection?.peer === undefined
      ? undefined
      : { address: connection.facts.name, inbound: connection.facts.type === "inbound" }
  }
}

export const service = (
  net: Net,
  handlers: typeof PeerHandlers.Service,
  state: {
    readonly bound: Address | undefined
    readonly totals: { readonly sent: number; readonly received: number }
    readonly setActive: (active: boolean) => void
    readonly met: () => boolean
  }
): PeerControl => {
  const { connections, options, store } = net
  const { bootstrapPeers, maxPeers, network } = options
  const targetOf = (node: string): Address | undefined => nodeAddress(node, network.defaultP2pPort)
  const leave = (connection: PeerConnection, reason: string): void =>
    connection.disconnect({ reason, misbehaving: false })
  const savingBans = <A>(change: (now: number) => A): Effect.Effect<A> =>
    Effect.zipLeft(Effect.map(unixTime, change), store.save)

  return {
    peers: Effect.sync(() => connections.peers.map((peer): PeerInfo => ({ peer, ...handlers.info(peer) }))),
    count: Effect.sync(() => {
      const inbound = connections.peers.filter((peer) => peer.inbound).length
      return { inbound, outbound: connections.peers.length - inbound }
    }),
    totals: Effect.sync(() => ({ ...state.totals })),
    get services() {
      return handlers.services()
    },
    userAgent: ownUserAgent(options.userAgentComments),
    proxyTo: (network) => {
      const proxy = options.proxies[network]
      return proxy === undefined ? undefined : { address: formatProxy(proxy), randomize: options.proxyRandomize }
    },
    relaysTransactions: !options.blocksOnly,
    upload: Effect.map(unixTime, (now) => handlers.upload.state(now)),
    networks: options.networks,
    localAddresses: Effect.sync(() =>
      localAddresses(connections.peers, {
        named: options.externalAddresses,
        bound: state.bound,
        trusted: options.discover
      })
    ),
    active: Effect.sync(net.isActive),
    setActive: (active) =>
      Effect.suspend(() => {
        state.setActive(active)
        if (active) return Effect.asVoid(net.gate.open)
        for (const connection of connections.all) leave(connection, "network activity was disabled")
        return Effect.asVoid(net.gate.close)
      }),
    connectOnce: (node, type = "manual") =>
      Effect.sync(() => {
        const target = targetOf(node)
        if (target === undefined || maxPeers === 0 || !net.isActive()) return
        const made = type === "manual" ? callManually(net, node, target) : call(net, target, { type, name: node })
        net.spawn(
          made.pipe(
            Effect.catchTag(
              "PeerUnreachable",
              ({ reason }) => Effect.logInfo("peer cannot be reached", { peer: node, reason })
            ),
            Effect.asVoid
          )
        )
      }),
    add: (node) =>
      Effect.sync(() => {
        const target = targetOf(node)
        const known = Array.from(net.added).some(([name, { target: other }]) =>
          name === node || (target !== undefined && other.host === target.host && other.port === target.port)
        )
        if (known) return false
        if (target !== undefined) addNode(net, { name: node, target, callable: maxPeers > 0 })
        else addNode(net, { name: node, target: { host: node, port: network.defaultP2pPort }, callable: false })
        return true
      }),
    remove: (node) => Effect.sync(() => removeNode(net, node)),
    added: Effect.sync(() => Array.from(net.added, ([node, { target }]) => addedNode(net, node, target))),
    disconnect: (which) =>
      Effect.suspend(() => {
        const found = connections.all.filter(({ facts }) =>
          "id" in which
            ? facts.id === which.id
            : facts.name === which.name || which.name === formatEndpoint(facts.address, facts.port)
        )
        for (const connection of found) leave(connection, "disconnected by the operator")
        return found.length > 0
          ? Effect.void
          : new PeerNotFound({ peer: "id" in which ? `number ${which.id}` : which.name })
      }),
    ping: Effect.sync(() => {
      for (const connection of connections.all) connection.ping()
    }),
    sendRaw: (id, { command, payload }) =>
      Effect.sync(() => {
        const peer = connections.peers.find((each) => each.id === id)
        peer?.post({ type: "unknown", command, payload })
        return peer !== undefined
      }),
    fetchBlock: handlers.fetchBlock,
    bookPlaces: Effect.sync(() => [...store.book.places()]),
    orphans: Effect.sync(() => handlers.orphans()),
    ban: (subnet, until) =>
      savingBans((now) => {
        const result = store.bans.ban(subnet, { until, now })
        if (result !== "banned") return result
        for (const connection of connections.all) {
          if (store.bans.isBanned(connection.facts.address, now)) leave(connection, "banned: its address was banned")
        }
        return result
      }),
    unban: (subnet) => savingBans(() => store.bans.unban(subnet)),
    bans: Effect.map(unixTime, (now) => store.bans.list(now)),
    clearBans: savingBans(() => store.bans.clear()),
    addresses: (count, addressNetwork) =>
      Effect.map(unixTime, (now) => store.book.sample({ max: count, percent: 0, now, network: addressNetwork })),
    learn: ({ address, port }, table) =>
      Effect.map(unixTime, (now) => {
        const known = { address, port, services: Services.network | Services.witness, time: now }
        if (store.book.add([known], address, { now }) === 0) return "not new"
        return table === "new" || store.book.good(address, port, now) ? "added" : "not tried"
      }),
    addressCounts: Effect.sync(() => store.book.counts()),
    lonely: Effect.sync(() => {
      if (maxPeers === 0 || state.met()) return false
      const { dnsSeeds, fixedSeeds } = network
      return bootstrapPeers.length > 0 || dnsSeeds.length > 0 || fixedSeeds.length > 0 || store.book.size > 0
    })
  }
}
