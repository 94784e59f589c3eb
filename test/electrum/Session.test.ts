import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { ElectrumMethod } from "../../src/electrum/methods/method.ts"
import { takes } from "../../src/electrum/methods/method.ts"
import { scriptNotification } from "../../src/electrum/methods/scriptHashMethods.ts"
import { ELECTRUM_LIMITS } from "../../src/electrum/protocol/limits.ts"
import { VERSION_1_6 } from "../../src/electrum/protocol/versions.ts"
import type { ServedClient } from "../../src/electrum/Session.ts"
import { Sessions } from "../../src/electrum/Sessions.ts"
import { Subscriptions } from "../../src/electrum/Subscriptions.ts"
import { clientAddress } from "../../src/http/clientAddress.ts"
import { scriptKey } from "../../src/protocol/keys.ts"

const key = (byte: number) => scriptKey(new Uint8Array(32).fill(byte))

/** A connection whose client reads nothing by itself. */
const fakeLink = () => {
  const link = {
    sent: [] as Array<string>,
    waiting: 0,
    destroyed: false,
    since: undefined as number | undefined,
    /** When the client takes what is sent, if it does not at once. */
    taken: undefined as Array<() => void> | undefined,
    stalled: undefined as number | undefined,
    send: (message: string, taken: () => void): void => {
      link.sent.push(message)
      if (link.taken === undefined) taken()
      else link.taken.push(taken)
    },
    stalledSince: () => link.stalled,
    isFull: () => link.waiting > 0,
    closed: false,
    close: (): void => {
      link.closed = true
    },
    ready: () => {},
    destroy: (): void => {
      link.destroyed = true
    },
    unfinishedSince: () => link.since
  }
  return link
}

const version: ElectrumMethod = {
  name: "server.version",
  group: "server",
  signature: takes([], ["name"]),
  call: (_, { speaks }) => Effect.sync(() => speaks(VERSION_1_6)).pipe(Effect.as("1.6"))
}

const follow: ElectrumMethod = {
  name: "follow",
  group: "scripthash",
  signature: takes(["byte"]),
  call: ([byte], caller) => Effect.as(caller.follow(key(Number(byte))), null)
}

/** Answers with as many bytes as asked. */
const fill: ElectrumMethod = {
  name: "fill",
  group: "server",
  signature: takes(["bytes"]),
  call: ([bytes]) => Effect.sync(() => "x".repeat(Number(bytes)))
}

/** Counts its calls, as a broadcast has an effect. */
const effects = { count: 0 }
const act: ElectrumMethod = {
  name: "act",
  group: "broadcast",
  signature: takes(),
  call: () => Effect.sync(() => ++effects.count)
}

/** Charges by steps, and stops at the limit. */
const long: ElectrumMethod = {
  name: "long",
  group: "server",
  signature: takes(),
  call: (_, { charge, withinLimits }) =>
    Effect.gen(function*() {
      for (let step = 0; step < 100; step++) {
        charge(1_000)
        yield* withinLimits
        effects.count++
      }
      return null
    })
}

const large: ElectrumMethod = {
  name: "large",
  group: "headers",
  signature: takes(),
  call: () => Effect.sync(() => "x".repeat(4_000_000))
}

const costly: ElectrumMethod = {
  name: "costly",
  group: "server",
  signature: takes(),
  call: (_, { charge }) => Effect.sync(() => charge(11_000)).pipe(Effect.as(null))
}

/** In memory for 1, which costs 2,000. */
const kept: ElectrumMethod = {
  name: "kept",
  group: "scripthash",
  signature: takes(["number"]),
  atOnce: ([number], { charge }) => {
    if (number !== "1") return undefined
    charge(2_000)
    return "memory"
  },
  call: () => Effect.sync(() => ++effects.count).pipe(Effect.as("disk"))
}

const methods = new Map([version, follow, fill, act, long, large, costly, kept].map((method) => [method.name, method]))

const worldOf = (limits: Partial<typeof ELECTRUM_LIMITS> = {}) => {
  const world = { now: 0, held: 0 }
  const memory = {
    take: (_: string, bytes: number) => {
      world.held += bytes
      return true
    },
    give: (_: string, bytes: number) => void (world.held -= bytes)
  }
  const subscriptions = new Subscriptions()
  const sessions = new Sessions(
    { methods, subscriptions, limits: { ...ELECTRUM_LIMITS, ...limits }, memory },
    { now: () => world.now, run: (work) => Effect.runFork(work) }
  )
  return { world, sessions, subscriptions }
}

const say = (session: ServedClient | undefined, method: string, ...params: ReadonlyArray<unknown>): void =>
  session?.take(Buffer.from(JSON.stringify({ id: 1, method, params })))

const at = (address: string) => ({ transport: "tcp", address: clientAddress(address, 1) } as const)

const request = (id: number, method: string, ...params: ReadonlyArray<unknown>) => ({ id, method, params })

const sayAll = (session: ServedClient | undefined, ...requests: ReadonlyArray<unknown>): void =>
  session?.take(Buffer.from(JSON.stringify(requests)))

const parsed = (text: string | undefined): unknown => JSON.parse(text ?? "null")

describe("an answer in memory", () => {
  it("needs no call, unless the version is unknown, an argument is missing, or the session has to slow down", () => {
    const { sessions } = worldOf()
    const open = () => {
      const link = fakeLink()
      return { link, session: sessions.open(at("192.0.2.1"), link) }
    }
    effects.count = 0
    const early = open()
    say(early.session, "kept", "1")
    assert.isTrue(early.link.closed)
    const { link, session } = open()
    say(session, "server.version")
    say(session, "kept", "0")
    say(session, "kept")
    say(session, "kept", "1")
    assert.deepStrictEqual(link.sent.slice(1).map((text) => JSON.parse(text).result), ["disk", undefined, "memory"])
    assert.strictEqual(effects.count, 1)
    // Above the soft limit, the answer waits.
    say(session, "kept", "1")
    assert.deepStrictEqual([link.sent.length, effects.count], [4, 1])
    session?.gone()
  })
})

describe("batches", () => {
  const opened = () => {
    const { sessions } = worldOf()
    const link = fakeLink()
    const session = sessions.open(at("192.0.2.1"), link)
    say(session, "server.version")
    effects.count = 0
    return { link, session }
  }

  it("keep what they did when a request ends the session, and do no more", () => {
    const { link, session } = opened()
    sayAll(session, request(1, "act"), request(2, "long"), request(3, "act"))
    assert.deepStrictEqual(parsed(link.sent[1]), [
      { jsonrpc: "2.0", result: 1, id: 1 },
      { jsonrpc: "2.0", error: { code: -101, message: "excessive resource usage" }, id: 2 }
    ])
    // One action and the steps below the limit.
    assert.strictEqual(effects.count, 1 + 9)
    assert.isTrue(link.closed)
    say(session, "act")
    assert.lengthOf(link.sent, 2)
  })

  it("execute nothing behind a full answer", () => {
    const { link, session } = opened()
    const big = "6000000"
    sayAll(session, request(1, "fill", big), request(2, "act"), request(3, "fill", big), request(4, "act"))
    const replies = parsed(link.sent[1])
    assert.isArray(replies)
    const codes = (replies as ReadonlyArray<{ readonly error?: { readonly code: number } }>).map(({ error }) =>
      error?.code
    )
    assert.deepStrictEqual(codes, [undefined, undefined, -32_600, -32_600])
    assert.strictEqual(effects.count, 1)
    assert.isBelow(link.sent[1]?.length ?? Infinity, 8_388_608)
  })
})

describe("sessions", () => {
  it("are as many as allowed, from one address and in all, but for this machine", () => {
    const { sessions, world } = worldOf({ sessions: 5, sessionsPerAddress: 2 })
    const open = (address: string) => sessions.open(at(address), fakeLink())
    const first = open("192.0.2.1")
    assert.isDefined(first)
    assert.isDefined(open("192.0.2.1"))
    assert.isUndefined(open("192.0.2.1"))
    assert.isUndefined(open("::ffff:192.0.2.1"))
    for (let i = 0; i < 3; i++) assert.isDefined(open("127.0.0.1"))
    assert.isUndefined(open("192.0.2.2"))
    if (first !== undefined) sessions.close(first)
    assert.isDefined(open("192.0.2.1"))
    for (const session of [...sessions]) sessions.close(session)
    assert.deepStrictEqual([sessions.size, world.held], [0, 0])
  })

  it("end when they are idle, or a message stays unfinished", () => {
    const { sessions, world } = worldOf()
    const [idle, unfinished] = [fakeLink(), fakeLink()]
    sessions.open(at("192.0.2.1"), idle)
    sessions.open(at("192.0.2.1"), unfinished)
    unfinished.since = 0
    world.now = 10_000
    sessions.sweep()
    assert.deepStrictEqual([idle.destroyed, unfinished.destroyed], [false, false])
    world.now = 10_001
    sessions.sweep()
    assert.deepStrictEqual([idle.destroyed, unfinished.destroyed], [false, true])
    world.now = 600_001
    sessions.sweep()
    assert.isTrue(idle.destroyed)
  })

  it("end when a client takes nothing for too long, or leaves too many notifications", () => {
    const { sessions, world } = worldOf({ unread: 200 })
    const [stalled, untold] = [fakeLink(), fakeLink()]
    sessions.open(at("192.0.2.1"), stalled)
    stalled.stalled = 0
    world.now = 30_000
    sessions.sweep()
    assert.isFalse(stalled.destroyed)
    world.now = 30_001
    sessions.sweep()
    assert.isTrue(stalled.destroyed)
    const session = sessions.open(at("192.0.2.1"), untold)
    say(session, "server.version")
    const taken: Array<() => void> = []
    untold.taken = taken
    session?.notify(scriptNotification(key(1), null))
    session?.notify(scriptNotification(key(1), null))
    assert.deepStrictEqual([untold.sent.length, untold.destroyed], [3, false])
    for (const take of taken.splice(0)) take()
    session?.notify(scriptNotification(key(1), null))
    session?.notify(scriptNotification(key(1), null))
    assert.deepStrictEqual([untold.sent.length, untold.destroyed], [5, false])
    session?.notify(scriptNotification(key(1), null))
    assert.deepStrictEqual([untold.sent.length, untold.destroyed], [5, true])
  })

  it("take memory for answers that wait, and are told of blocks meanwhile", () => {
    const { sessions, world } = worldOf()
    const link = fakeLink()
    const session = sessions.open(at("192.0.2.1"), link)
    say(session, "server.version")
    const idle = world.held
    const taken: Array<() => void> = []
    link.taken = taken
    say(session, "large")
    assert.isAtLeast(world.held, idle + 4_000_000)
    session?.notify(scriptNotification(key(1), null))
    assert.deepStrictEqual([link.sent.length, link.destroyed], [3, false])
    for (const take of taken.splice(0)) take()
    assert.strictEqual(world.held, idle)
    say(session, "large")
    if (session !== undefined) sessions.close(session)
    assert.strictEqual(world.held, 0)
    for (const take of taken) take()
    assert.strictEqual(world.held, 0)
  })

  it.each(["{", "[]", "{\"id\":1,\"method\":\"follow\"}", "{\"result\":1}", "[{\"method\":\"x\"}]"])(
    "end at the limit of costs, whatever the client sends: %s",
    (text) => {
      const { sessions } = worldOf()
      const link = fakeLink()
      const session = sessions.open(at("192.0.2.1"), link)
      say(session, "server.version")
      say(session, "costly")
      session?.take(Buffer.from(text))
      assert.include(link.sent.at(-1), "excessive resource usage")
      assert.isTrue(link.closed)
      const { length } = link.sent
      session?.take(Buffer.from(text))
      assert.lengthOf(link.sent, length)
    }
  )

  it("follow as many script hashes as allowed, and each change is told once", () => {
    const { sessions, subscriptions, world } = worldOf({ subscriptions: 2, allSubscriptions: 3 })
    const [a, b] = [fakeLink(), fakeLink()]
    const [first, second] = [sessions.open(at("192.0.2.1"), a), sessions.open(at("192.0.2.1"), b)]
    for (const session of [first, second]) say(session, "server.version")
    for (const byte of ["1", "2", "1", "3"]) say(first, "follow", byte)
    assert.deepStrictEqual(a.sent.slice(1).map((text) => text.includes("too many subscriptions")), [
      false,
      false,
      false,
      true
    ])
    say(second, "follow", "1")
    say(second, "follow", "4")
    assert.include(b.sent.at(-1), "too many subscriptions")
    subscriptions.answered(key(1), "old")
    subscriptions.answered(key(1), "newer")
    const [toldA, toldB] = [a.sent.length, b.sent.length]
    assert.strictEqual(subscriptions.tell(key(1), "newer"), 2)
    assert.strictEqual(subscriptions.tell(key(1), "newer"), 0)
    assert.deepStrictEqual([a.sent.length - toldA, b.sent.length - toldB], [1, 1])
    if (first !== undefined) sessions.close(first)
    if (second !== undefined) sessions.close(second)
    assert.deepStrictEqual([subscriptions.count, subscriptions.has(key(1)), world.held], [0, false, 0])
  })

  it("share their costs with their network", () => {
    const { sessions } = worldOf()
    const [a, b, c] = ["192.0.2.1", "192.0.2.200", "192.0.3.1"].map((address) => {
      const link = fakeLink()
      return { link, session: sessions.open(at(address), link) }
    })
    say(a?.session, "server.version")
    for (let i = 0; i < 3; i++) {
      a?.session?.take(Buffer.from(JSON.stringify(Array.from({ length: 50 }, () => ({ id: 1, method: "x" })))))
    }
    say(b?.session, "server.version")
    say(c?.session, "server.version")
    assert.lengthOf(c?.link.sent ?? [], 1)
    // The other one of the network waits for its answer.
    assert.lengthOf(b?.link.sent ?? [], 0)
  })
})
