import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger } from "effect"
import { createRequire } from "node:module"
import { join } from "node:path"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { SyncStatus } from "../../src/chain/SyncStatus.ts"
import { ZMQ_TOPICS } from "../../src/config/zmqOptions.ts"
import { Mempool } from "../../src/mempool/Mempool.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import type { Transaction } from "../../src/protocol/transaction.ts"
import type { Notice } from "../../src/publish/Publication.ts"
import { publishing } from "../../src/publish/publish.ts"
import * as Publishers from "../../src/publish/Publishers.ts"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { BASE, blockOn, pay, reward, withNode } from "../support/mempool.ts"

/** A message in short: `sequence` with its label and number, hashes alone, and raw data by their size. */
const short = ({ body, topic }: Notice): string => {
  if (topic === "rawtx" || topic === "rawblock") return `${topic} ${body.length}`
  if (topic !== "sequence") return `${topic} ${toHex(body)}`
  const label = String.fromCharCode(body[32] ?? 0)
  const number = body.length === 41 ? ` ${new DataView(body.buffer, body.byteOffset).getBigUint64(33, true)}` : ""
  return `${label} ${toHex(body.subarray(0, 32))}${number}`
}

const added = (transaction: Transaction, number: number) => [
  `hashtx ${displayHash(transaction.txid)}`,
  `rawtx ${transaction.bytes.length}`,
  `A ${displayHash(transaction.txid)} ${number}`
]

const inBlock = (transactions: ReadonlyArray<Transaction>) =>
  transactions.flatMap(({ bytes, txid }) => [`hashtx ${displayHash(txid)}`, `rawtx ${bytes.length}`])

/** Publishes all topics of a node, and returns what takes the messages since the last call. */
const heard = (node: Parameters<Parameters<typeof withNode>[0]>[0], downloads: () => boolean = () => false) =>
  Effect.gen(function*() {
    const messages: Array<string> = []
    yield* publishing(Effect.void).pipe(Effect.provide(Layer.mergeAll(
      Layer.succeed(Chain, node.chain),
      Layer.succeed(ChainControl, node.chain.control),
      Layer.succeed(Mempool, node.pool),
      Layer.mock(SyncStatus, { initialDownload: Effect.sync(downloads) }),
      Layer.succeed(Publishers.Publishers, {
        active: ZMQ_TOPICS.map((topic) => ({ topic, address: "tcp://127.0.0.1:1", hwm: 1 })),
        publish: (list) => void messages.push(...Array.from(list, short))
      })
    )))
    return () => messages.splice(0)
  })

describe("what is published", () => {
  it.live("transactions that the pool takes and loses, and blocks after what conflicts with them", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const take = yield* heard(node)
        const first = yield* node.take(pay([reward(1)]))
        const against = yield* node.take(pay([reward(2)]))
        assert.deepStrictEqual(take(), [...added(first, 1), ...added(against, 2)])
        const instead = pay([reward(2)], { fee: 1 })
        const block = yield* node.mine([first, instead])
        const hash = displayHash(block.hash)
        assert.deepStrictEqual(take(), [
          `R ${displayHash(against.txid)} 4`,
          ...inBlock(block.transactions),
          `C ${hash}`,
          `hashblock ${hash}`,
          `rawblock ${block.bytes.length}`
        ])
      })
    ))

  it.live("a reorganisation: blocks that leave, what the pool accepts again, blocks that come, one tip", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const old = yield* node.chain.block((yield* node.chain.tip).hash)
        const back = pay([reward(3)])
        const left = yield* node.mine([back])
        const take = yield* heard(node)
        const other = blockOn(old, BASE + 1, [], 1)
        yield* node.chain.sink.submit(other)
        assert.deepStrictEqual(take(), [])
        const last = blockOn(other, BASE + 2, [], 1)
        yield* node.chain.sink.submit(last)
        const messages = take()
        assert.deepStrictEqual(messages, [
          ...inBlock(left.transactions),
          `D ${displayHash(left.hash)}`,
          ...added(back, 1),
          ...inBlock(other.transactions),
          `C ${displayHash(other.hash)}`,
          ...inBlock(last.transactions),
          `C ${displayHash(last.hash)}`,
          `hashblock ${displayHash(last.hash)}`,
          `rawblock ${last.bytes.length}`
        ])
        yield* node.chain.control.invalidate(last.hash)
        assert.deepStrictEqual(take().filter((one) => /^(?:C|D|hashblock)/.test(one)), [
          `D ${displayHash(last.hash)}`,
          `D ${displayHash(other.hash)}`,
          `C ${displayHash(left.hash)}`,
          `hashblock ${displayHash(left.hash)}`
        ])
      })
    ))

  it.live("no tip during the initial download", () =>
    withNode((node) =>
      Effect.gen(function*() {
        const take = yield* heard(node, () => true)
        const block = yield* node.mine()
        assert.deepStrictEqual(take(), [...inBlock(block.transactions), `C ${displayHash(block.hash)}`])
      })
    ))
})

interface Subscriber {
  connect(address: string): void
  subscribe(topic: string): void
  receive(): Promise<ReadonlyArray<Uint8Array>>
  close(): void
}

const subscriberClass = (): (new() => Subscriber) | undefined => {
  try {
    const loaded: { readonly Subscriber: new() => Subscriber } = createRequire(import.meta.url)("zeromq")
    return loaded.Subscriber
  } catch {
    return undefined
  }
}

const SubscriberSocket = subscriberClass()

// The package is optional.
describe.skipIf(SubscriberSocket === undefined)("a subscriber", () => {
  it.scopedLive("gets topic, body and the number of each message of a topic", () =>
    Effect.gen(function*() {
      const path = join(yield* temporaryDirectory, "zmq")
      const built = yield* Layer.build(Publishers.layer([
        { topic: "hashtx", address: `unix:${path}`, hwm: 1000 },
        { topic: "sequence", address: `unix:${path}`, hwm: 1000 }
      ]))
      const { active, publish } = Context.get(built, Publishers.Publishers)
      assert.deepStrictEqual(active.map(({ address, topic }) => [topic, address]), [
        ["hashtx", `ipc://${path}`],
        ["sequence", `ipc://${path}`]
      ])
      const subscriber = yield* Effect.acquireRelease(
        Effect.sync(() => SubscriberSocket === undefined ? assert.fail() : new SubscriberSocket()),
        (socket) => Effect.sync(() => socket.close())
      )
      subscriber.connect(`ipc://${path}`)
      subscriber.subscribe("hashtx")
      const first = subscriber.receive()
      let heardOne = false
      void first.then(() => (heardOne = true))
      // A subscription takes effect some time after it is made.
      yield* eventually(
        "the subscriber hears",
        Effect.sync(() => {
          publish([{ topic: "sequence", body: Uint8Array.of(1) }, { topic: "hashtx", body: Uint8Array.of(2, 3) }])
          return heardOne
        })
      )
      const one = yield* Effect.promise(() => first)
      const two = yield* Effect.promise(() => subscriber.receive())
      const number = (parts: ReadonlyArray<Uint8Array>) => Buffer.from(parts[2] ?? []).readUInt32LE()
      assert.strictEqual(Buffer.from(one[0] ?? []).toString(), "hashtx")
      assert.deepStrictEqual([...one[1] ?? []], [2, 3])
      assert.lengthOf(one, 3)
      assert.strictEqual(number(two), number(one) + 1)
    }))
})

describe("publishers without a usable address", () => {
  it.scoped("publish nothing, and the node goes on", () =>
    Effect.gen(function*() {
      const { active } = yield* Publishers.Publishers
      assert.deepStrictEqual(active, [])
    }).pipe(
      Effect.provide(
        Publishers.layer([
          { topic: "rawtx", address: "tcp://127.0.0.1:*", hwm: 1000 },
          { topic: "hashtx", address: "bar", hwm: 1000 }
        ]).pipe(Layer.provide(Logger.remove(Logger.defaultLogger)))
      )
    ))
})
