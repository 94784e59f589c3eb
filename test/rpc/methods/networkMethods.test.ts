import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { PeerNotFound } from "../../../src/network/errors.ts"
import type { PeerInfo } from "../../../src/network/peerInfo.ts"
import { parseEndpoint } from "../../../src/network/wire/addressText.ts"
import { peerId } from "../../../src/protocol/keys.ts"
import { serviceNames } from "../../../src/rpc/shapes/peer.ts"
import { ampleAccount } from "../../support/memory.ts"
import { network, NOW } from "./someNetwork.ts"

const endpoint = (text: string) => parseEndpoint(text, 8334) ?? assert.fail(`no address: ${text}`)

const peer: PeerInfo = {
  peer: {
    id: peerId(7),
    type: "inbound",
    inbound: true,
    ...endpoint("192.0.2.5:41636"),
    name: "192.0.2.5:41636",
    permissions: new Set(),
    bind: "127.0.0.1:8334",
    connectedAt: NOW - 10,
    hello: {
      version: 110_016,
      commonVersion: 110_016,
      services: 0xc09n,
      userAgent: "/Satoshi:31.1.0(testnode0)/",
      startHeight: 236,
      relay: true,
      timeOffset: -1,
      wtxidRelay: true,
      addrV2: true,
      ourAddress: endpoint("198.51.100.7:8334")
    },
    features: { sendHeaders: true, compactBlocks: "low-bandwidth", feeFilter: 100_000, relay: true, bloom: undefined },
    traffic: {
      bytesSent: 2_095,
      bytesReceived: 25_136,
      lastSend: NOW - 1,
      lastReceive: NOW - 2,
      sentByCommand: new Map([["verack", 24], ["ping", 32]]),
      receivedByCommand: new Map([["pong", 32]])
    },
    memory: ampleAccount(),
    ready: Effect.void,
    spent: () => {},
    judged: () => {},
    turn: Effect.void,
    latency: { last: 1.5, best: 0.75, waiting: undefined },
    closed: false,
    send: () => Effect.void,
    post: () => undefined,
    disconnect: () => undefined
  },
  sync: {
    syncedHeaders: 236,
    syncedBlocks: 235,
    presyncedHeaders: -1,
    inFlight: [236],
    lastBlock: NOW - 3,
    highBandwidthTo: true,
    highBandwidthFrom: false
  },
  relay: { toAnnounce: 2, lastSequence: 40, lastTransaction: 0 },
  gossip: { enabled: true, processed: 3, rateLimited: 1 }
}

describe("getpeerinfo", () => {
  it.effect("returns the state of a peer, in the order of the reference node (reference/rpc.md 3.7)", () =>
    Effect.gen(function*() {
      const { call } = yield* network({ peers: Effect.succeed([peer]) })
      assert.strictEqual(
        (yield* call("getpeerinfo")).text,
        `[{"id":7,"addr":"192.0.2.5:41636","addrbind":"127.0.0.1:8334","addrlocal":"198.51.100.7:8334",` +
          `"network":"not_publicly_routable","services":"0000000000000c09",` +
          `"servicesnames":["NETWORK","WITNESS","NETWORK_LIMITED","P2P_V2"],"relaytxes":true,"last_inv_sequence":40,` +
          `"inv_to_send":2,"lastsend":${NOW - 1},"lastrecv":${NOW - 2},"last_transaction":0,"last_block":${NOW - 3},` +
          `"bytessent":2095,"bytesrecv":25136,"conntime":${NOW - 10},"timeoffset":-1,"pingtime":0.0015,` +
          `"minping":0.00075,"version":110016,"subver":"/Satoshi:31.1.0(testnode0)/","inbound":true,` +
          `"bip152_hb_to":true,"bip152_hb_from":false,"presynced_headers":-1,"synced_headers":236,` +
          `"synced_blocks":235,"inflight":[236],"addr_relay_enabled":true,"addr_processed":3,"addr_rate_limited":1,` +
          `"permissions":[],"minfeefilter":0.00100000,"bytessent_per_msg":{"ping":32,"verack":24},` +
          `"bytesrecv_per_msg":{"pong":32},"connection_type":"inbound","transport_protocol_type":"v1","session_id":""}]`
      )
    }))

  it("names unknown services by their bits", () => {
    assert.deepStrictEqual(serviceNames(0x9n | 1n << 40n), ["NETWORK", "WITNESS", "UNKNOWN[2^40]"])
  })
})

describe("addnode", () => {
  const done: Array<string> = []
  const note = (what: string) => (node: string) => Effect.sync(() => void done.push(`${what} ${node}`))
  const added = network({
    connectOnce: note("call"),
    add: (node) => Effect.as(note("add")(node), !node.startsWith("known")),
    remove: (node) => Effect.as(note("remove")(node), node.startsWith("known"))
  })

  it.effect("adds, removes and connects to peers", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* added
      yield* call("addnode", "a:1", "add")
      yield* call("addnode", "known", "remove")
      yield* call("addnode", "b", "onetry")
      assert.deepStrictEqual(done, ["add a:1", "remove known", "call b"])
      assert.deepStrictEqual(yield* refusal("addnode", "known", "add"), {
        code: -23,
        message: "Error: Node already added"
      })
      assert.deepStrictEqual(yield* refusal("addnode", "a", "remove"), {
        code: -24,
        message: "Error: Node could not be removed. It has not been added previously."
      })
      assert.strictEqual((yield* refusal("addnode", "a", "add", true)).code, -8)
      const unknown = yield* refusal("addnode", "a", "try")
      assert.strictEqual(unknown.code, -1)
      assert.match(unknown.message, /^addnode "node" "command"/)
    }))
})

describe("addconnection", () => {
  it.effect("opens a connection of a type", () =>
    Effect.gen(function*() {
      const called: Array<unknown> = []
      const { call, refusal } = yield* network({
        connectOnce: (node, type) => Effect.sync(() => void called.push([node, type]))
      })
      assert.strictEqual(
        (yield* call("addconnection", "192.0.2.1:1", "block-relay-only", false)).text,
        "{\"address\":\"192.0.2.1:1\",\"connection_type\":\"block-relay-only\"}"
      )
      assert.deepStrictEqual(called, [["192.0.2.1:1", "block-relay-only"]])
      assert.strictEqual((yield* refusal("addconnection", "192.0.2.1:1", "inbound", false)).code, -8)
      assert.strictEqual((yield* refusal("addconnection", "192.0.2.1:1", "feeler", true)).code, -8)
    }))
})

describe("getaddednodeinfo", () => {
  it.effect("lists the added peers and which of them are connected", () =>
    Effect.gen(function*() {
      const { call, refusal } = yield* network({
        added: Effect.succeed([
          { node: "a", connected: undefined },
          { node: "b:1", connected: { address: "192.0.2.1:1", inbound: false } }
        ])
      })
      assert.deepStrictEqual((yield* call("getaddednodeinfo")).value, [
        { addednode: "a", connected: false, addresses: [] },
        { addednode: "b:1", connected: true, addresses: [{ address: "192.0.2.1:1", connected: "outbound" }] }
      ])
      assert.lengthOf((yield* call("getaddednodeinfo", "a")).text.match(/addednode/g) ?? [], 1)
      assert.deepStrictEqual(yield* refusal("getaddednodeinfo", "c"), {
        code: -24,
        message: "Error: Node has not been added."
      })
    }))
})

describe("disconnectnode", () => {
  it.effect("accepts an address or an id, and not both", () =>
    Effect.gen(function*() {
      const gone: Array<unknown> = []
      const { call, refusal } = yield* network({
        disconnect: (which) =>
          ("id" in which ? which.id === 9 : which.name === "")
            ? new PeerNotFound({ peer: "9" })
            : Effect.sync(() => void gone.push(which))
      })
      yield* call("disconnectnode", "192.0.2.5:1")
      yield* call("disconnectnode", "", 3)
      yield* call("disconnectnode", null, 4)
      assert.deepStrictEqual(gone, [{ name: "192.0.2.5:1" }, { id: 3 }, { id: 4 }])
      for (const params of [["", 9], [""]]) {
        assert.deepStrictEqual(yield* refusal("disconnectnode", ...params), {
          code: -29,
          message: "Node not found in connected nodes"
        })
      }
      for (const params of [[], ["a", 1], [null, null]]) {
        assert.deepStrictEqual(yield* refusal("disconnectnode", ...params), {
          code: -32602,
          message: "Only one of address and nodeid should be provided."
        })
      }
    }))
})

describe("addresses", () => {
  const known = { ...endpoint("192.0.2.1:8334"), services: 9n, time: NOW }

  it.effect("are returned up to the requested number", () =>
    Effect.gen(function*() {
      const asked: Array<unknown> = []
      const { call, refusal } = yield* network({
        addresses: (count, of) => Effect.sync(() => (asked.push([count, of]), [known]))
      })
      assert.strictEqual(
        (yield* call("getnodeaddresses", 5, "onion")).text,
        `[{"time":${NOW},"services":9,"address":"192.0.2.1","port":8334,"network":"ipv4"}]`
      )
      yield* call("getnodeaddresses")
      assert.deepStrictEqual(asked, [[5, "torv3"], [1, undefined]])
      assert.strictEqual((yield* refusal("getnodeaddresses", -1)).message, "Address count out of range")
      assert.strictEqual((yield* refusal("getnodeaddresses", 1, "moon")).message, "Network not recognized: moon")
    }))

  it.effect("are counted by network and in total", () =>
    Effect.gen(function*() {
      const { call } = yield* network({
        addressCounts: Effect.succeed(
          new Map([["ipv4", { fresh: 3, tried: 1 }] as const, ["torv3", { fresh: 2, tried: 0 }] as const])
        )
      })
      assert.deepStrictEqual((yield* call("getaddrmaninfo")).value, {
        ipv4: { new: 3, tried: 1, total: 4 },
        ipv6: { new: 0, tried: 0, total: 0 },
        onion: { new: 2, tried: 0, total: 2 },
        i2p: { new: 0, tried: 0, total: 0 },
        cjdns: { new: 0, tried: 0, total: 0 },
        all_networks: { new: 5, tried: 1, total: 6 }
      })
    }))
})

describe("the rest", () => {
  it.effect("summarizes the network", () =>
    Effect.gen(function*() {
      const { call } = yield* network({
        count: Effect.succeed({ inbound: 2, outbound: 1 }),
        totals: Effect.succeed({ sent: 5, received: 6 }),
        proxyTo: (network) =>
          network === "ipv6" ? undefined : { address: "127.0.0.1:9050", randomize: network !== "onion" },
        networks: new Set(["ipv4", "torv3"]),
        relaysTransactions: false,
        upload: Effect.succeed({
          target: 9,
          isReached: true,
          servesOldBlocks: false,
          bytesLeft: 1,
          secondsLeft: 2
        })
      })
      assert.strictEqual((yield* call("getconnectioncount")).text, "3")
      assert.match(
        (yield* call("getnettotals")).text,
        /^\{"totalbytesrecv":6,"totalbytessent":5,"timemillis":1700000000000,"uploadtarget":\{"timeframe":86400,"target":9,"target_reached":true,"serve_historical_blocks":false,"bytes_left_in_cycle":1,"time_left_in_cycle":2\}/
      )
      const info = (yield* call("getnetworkinfo")).text
      assert.match(info, /^\{"version":310100,/)
      assert.match(info, /"subversion":"\/svcd:0.0.0\/","protocolversion":110016,"localservices":"0000000000000409"/)
      assert.match(info, /"connections":3,"connections_in":2,"connections_out":1,"networkactive":true/)
      assert.match(info, /"localrelay":false,/)
      assert.match(info, /\{"name":"ipv6","limited":true,"reachable":false,"proxy":""/)
      assert.match(
        info,
        /\{"name":"onion","limited":false,"reachable":true,"proxy":"127.0.0.1:9050","proxy_randomize_credentials":false/
      )
      assert.match(info, /\{"name":"ipv4",.*?"proxy":"127.0.0.1:9050","proxy_randomize_credentials":true/)
      assert.match(info, /"relayfee":0.00100000,"incrementalfee":0.00000100/)
      assert.match(info, /"warnings":\["the disk is full"\]\}$/)
      assert.strictEqual((yield* call("ping")).text, "null")
      assert.strictEqual((yield* call("setnetworkactive", false)).text, "false")
    }))
})
