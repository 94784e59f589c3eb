import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Chain } from "../../src/chain/Chain.ts"
import { ChainControl } from "../../src/chain/ChainControl.ts"
import { ChainSink } from "../../src/chain/ChainSink.ts"
import { NameDb } from "../../src/names/NameDb.ts"
import { encodeBlockHeader } from "../../src/protocol/block.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { fixtureBlocks } from "../support/chainFixture.ts"
import { eventually } from "../support/eventually.ts"
import { connectTo, speaking } from "./client.ts"
import {
  filledDirectory,
  historyOf,
  type HistoryRow,
  onNode,
  provenRoot,
  shownScriptHash,
  tcpPort
} from "./servedNode.ts"

const HEIGHT = 180

const filled = filledDirectory(HEIGHT)

const served = onNode(filled)

const blocks = fixtureBlocks("regtest-names/blocks.dat.gz")

const allNames = Effect.gen(function*() {
  const names = yield* NameDb
  const records = yield* Stream.runCollect(names.scan({}))
  return yield* Effect.forEach(records, ({ name }) => Effect.map(names.history(name), (history) => ({ name, history })))
})

describe("a session", () => {
  it.scopedLive("begins with a version, and ends otherwise", () =>
    served(Effect.gen(function*() {
      const port = yield* tcpPort
      const hasty = yield* connectTo(port)
      assert.deepStrictEqual((yield* hasty.call("server.ping")).error, {
        code: 1,
        message: "use server.version to identify client"
      })
      yield* eventually("the session ends", Effect.sync(hasty.closed))
      const old = yield* connectTo(port)
      assert.deepStrictEqual((yield* old.call("server.version", "old", "1.2")).error, {
        code: 1,
        message: "unsupported protocol version: 1.2"
      })
      yield* eventually("the session ends", Effect.sync(old.closed))
      const lost = yield* connectTo(port)
      yield* lost.raw("GET / HTTP/1.1\r\n")
      assert.strictEqual((yield* lost.reply).error?.code, -32_700)
      yield* eventually("the session ends", Effect.sync(lost.closed))
      const secure = yield* connectTo(port)
      yield* secure.raw(Uint8Array.of(0x16, 3, 1, 2, 0))
      yield* eventually("the session ends", Effect.sync(secure.closed))
      const client = yield* connectTo(port)
      assert.deepStrictEqual(yield* client.ask("server.version", "test", ["1.4", "1.4.2"], "more"), [
        "svcd 0.2.0",
        "1.4.2"
      ])
      assert.deepStrictEqual((yield* client.call("server.version", "test")).error, {
        code: 1,
        message: "server.version already sent"
      })
    })))

  it.scopedLive("has the methods of its version", () =>
    served(Effect.gen(function*() {
      const port = yield* tcpPort
      const hash = "00".repeat(32)
      const has = (version: string) =>
        Effect.gen(function*() {
          const client = yield* speaking(port, version)
          const calls = {
            unsubscribe: client.call("blockchain.scripthash.unsubscribe", hash),
            proof: client.call("blockchain.name.get_value_proof", hash),
            info: client.call("mempool.get_info"),
            relayfee: client.call("blockchain.relayfee"),
            outpoint: client.call("blockchain.outpoint.subscribe")
          }
          const replies = yield* Effect.all(calls)
          return Object.entries(replies).flatMap(([name, { error }]) => error === undefined ? [name] : [])
        })
      assert.deepStrictEqual(yield* has("1.4"), ["relayfee"])
      assert.deepStrictEqual(yield* has("1.4.1"), ["relayfee"])
      assert.deepStrictEqual(yield* has("1.4.2"), ["unsubscribe", "relayfee"])
      assert.deepStrictEqual(yield* has("1.4.3"), ["unsubscribe", "proof", "relayfee"])
      assert.deepStrictEqual(yield* has("1.6"), ["unsubscribe", "proof", "info"])
      const client = yield* speaking(port)
      assert.deepStrictEqual((yield* client.call("nonsense")).error, {
        code: -32_601,
        message: "unknown method \"nonsense\""
      })
    })))

  it.scopedLive("answers in order, whatever the cuts, and batches as a whole", () =>
    served(Effect.gen(function*() {
      const client = yield* speaking(yield* tcpPort)
      const requests = Array.from({ length: 40 }, (_, id) => `{"id":${id},"method":"server.ping"}\n`).join("")
      for (let at = 0; at < requests.length; at += 7) yield* client.raw(requests.slice(at, at + 7))
      for (let id = 0; id < 40; id++) {
        assert.deepStrictEqual(yield* client.reply, { jsonrpc: "2.0", result: null, id })
      }
      yield* client.raw(
        "[{\"id\":1,\"method\":\"server.ping\"},{\"method\":\"server.ping\"},{\"id\":2,\"method\":\"x\"}]\n"
      )
      const batch: unknown = yield* client.reply
      assert.deepStrictEqual(batch, [
        { jsonrpc: "2.0", result: null, id: 1 },
        { jsonrpc: "2.0", error: { code: -32_601, message: "unknown method \"x\"" }, id: 2 }
      ])
    })))
})

describe("names", () => {
  it.scopedLive("have the history, the transactions and the proofs of the chain", () =>
    served(Effect.gen(function*() {
      const client = yield* speaking(yield* tcpPort, "1.4.3")
      const chain = yield* Chain
      const names = yield* allNames
      assert.isAbove(names.length, 5)
      for (const { history, name } of names) {
        const rows = yield* historyOf(client, name)
        assert.deepStrictEqual(rows, history.map(({ height, txid }) => ({ tx_hash: displayHash(txid), height })))
        for (const { height, tx_hash } of rows) {
          const raw = yield* client.ask("blockchain.transaction.get", tx_hash)
          const block = blocks[height]
          const found = block?.transactions.find(({ txid }) => displayHash(txid) === tx_hash)
          assert.strictEqual(raw, found && toHex(found.bytes))
          const proof = yield* client.ask("blockchain.transaction.get_merkle", tx_hash, height)
          const { block_height, ...place } = proof as {
            readonly block_height: number
            readonly merkle: ReadonlyArray<string>
            readonly pos: number
          }
          assert.strictEqual(block_height, height)
          assert.strictEqual(provenRoot(tx_hash, place), block && displayHash(block.header.merkleRoot))
          assert.strictEqual(yield* client.ask("blockchain.transaction.id_from_pos", height, place.pos), tx_hash)
        }
        const [key, proofs] = Object.entries(
          (yield* client.ask("blockchain.name.get_value_proof", shownScriptHash(name), 130)) as object
        )[0] ?? []
        assert.strictEqual(key, shownScriptHash(name))
        const heights = (proofs as ReadonlyArray<{ readonly height: number }>).map(({ height }) => height)
        const newest = rows.map(({ height }) => height).reverse()
        const below = newest.findIndex((height) => height <= 130)
        const gap = newest.findIndex((height, at) => at > 0 && height < (newest[at - 1] ?? 0) - 30)
        const ends = [below === -1 ? Infinity : below + 1, gap === -1 ? Infinity : gap]
        assert.deepStrictEqual(heights, newest.slice(0, Math.min(...ends)))
      }
      const { height } = yield* chain.tip
      assert.strictEqual(height, HEIGHT)
      assert.deepStrictEqual(yield* client.ask("blockchain.scripthash.get_history", "77".repeat(32)), [])
      assert.deepStrictEqual(yield* client.ask("blockchain.scripthash.get_balance", "77".repeat(32)), {
        confirmed: 0,
        unconfirmed: 0
      })
      assert.isNull(yield* client.ask("blockchain.scripthash.subscribe", "77".repeat(32)))
    })))
})

/** Whether a proof leads to the merkle root in a header. */
const isProven = (
  header: string,
  txid: string,
  proof: { readonly merkle: ReadonlyArray<string>; readonly pos: number }
) => provenRoot(txid, proof) === displayHash(Buffer.from(header.slice(72, 136), "hex"))

describe("a name", () => {
  // The lines of Amethyst (ElectrumXClient.kt); on Windows, Java ends them with two characters.
  it.scopedLive.each(["\n", "\r\n"])(
    "is resolved by the four calls of a Nostr client, with lines that end with %j",
    (end) =>
      served(Effect.gen(function*() {
        const client = yield* connectTo(yield* tcpPort)
        const [named] = (yield* allNames).filter(({ history }) => history.length > 1)
        const last = named?.history.at(-1)
        const txid = last && displayHash(last.txid)
        let id = 0
        const call = (method: string, params: string) =>
          Effect.zipRight(
            client.raw(`{"jsonrpc":"2.0","id":${++id},"method":"${method}","params":${params}}${end}`),
            Effect.tap(client.reply, (reply) => assert.strictEqual(reply.id, id))
          )
        const version = yield* call("server.version", "[\"AmethystNMC/0.1\",\"1.4\"]")
        assert.deepStrictEqual(version.result, ["svcd 0.2.0", "1.4"])
        const hash = named && shownScriptHash(named.name)
        const { result: history } = yield* call("blockchain.scripthash.get_history", `["${hash}"]`)
        // The client takes the last one as the newest.
        assert.deepStrictEqual((history as ReadonlyArray<unknown>).at(-1), { tx_hash: txid, height: last?.height })
        const { result } = yield* call("blockchain.transaction.get", `["${txid}",true]`)
        const { vout } = result as { readonly vout: ReadonlyArray<{ readonly scriptPubKey: { readonly hex: string } }> }
        assert.include(vout[last?.vout ?? -1]?.scriptPubKey.hex, named && toHex(named.name))
        assert.deepInclude((yield* call("blockchain.headers.subscribe", "[]")).result, { height: HEIGHT })
      }))
  )

  it.scopedLive("is shown by a wallet after its start", () =>
    served(Effect.gen(function*() {
      const client = yield* connectTo(yield* tcpPort)
      // Electrum-NMC writes requests without arguments so, and ends a session with another version (interface.py).
      const ask = (method: string, ...params: ReadonlyArray<unknown>) =>
        Effect.zipRight(
          client.raw(`${JSON.stringify({ jsonrpc: "2.0", method, id: 7, ...params.length > 0 ? { params } : {} })}\n`),
          Effect.map(client.reply, ({ result }) => result as never)
        )
      assert.deepStrictEqual(yield* ask("server.version", "electrum-nmc/4.0.6", "1.4.1"), ["svcd 0.2.0", "1.4.1"])
      for (const target of [25, 10, 5, 2]) assert.isNumber(yield* ask("blockchain.estimatefee", target))
      assert.deepInclude(yield* ask("blockchain.headers.subscribe"), { height: HEIGHT })
      assert.isString(yield* ask("server.banner"))
      assert.isString(yield* ask("server.donation_address"))
      assert.deepStrictEqual(yield* ask("server.peers.subscribe"), [])
      assert.isNumber(yield* ask("blockchain.relayfee"))
      assert.isArray(yield* ask("mempool.get_fee_histogram"))
      assert.isNull(yield* ask("server.ping"))
      // A chunk after the checkpoint has whole headers, one below it has 80 bytes of each.
      const whole: object = yield* ask("blockchain.block.headers", 0, HEIGHT + 1, 0)
      assert.deepInclude(whole, { count: HEIGHT + 1, max: 2_016 })
      const cut: { readonly count: number; readonly hex: string } = yield* ask(
        "blockchain.block.headers",
        0,
        HEIGHT - 20,
        HEIGHT - 10
      )
      assert.strictEqual(cut.count, HEIGHT - 20)
      assert.lengthOf(cut.hex, 160 * cut.count)
      const [named] = (yield* allNames).filter(({ history }) => history.length > 1)
      const hash = named && shownScriptHash(named.name)
      assert.isString(yield* ask("blockchain.scripthash.subscribe", hash))
      const history: ReadonlyArray<HistoryRow> = yield* ask("blockchain.scripthash.get_history", hash)
      for (const { height, tx_hash: txid } of history) {
        const proof: { readonly merkle: ReadonlyArray<string>; readonly pos: number; readonly block_height: number } =
          yield* ask("blockchain.transaction.get_merkle", txid, height)
        assert.strictEqual(proof.block_height, height)
        assert.isTrue(isProven(yield* ask("blockchain.block.header", height, 0), txid, proof))
        const raw: string = yield* ask("blockchain.transaction.get", txid)
        assert.include(raw, toHex(named?.name ?? new Uint8Array(1)))
      }
    })))
})

describe("headers", () => {
  it.scopedLive("have their proofs of work, and below a checkpoint a proof of their place", () =>
    served(Effect.gen(function*() {
      const port = yield* tcpPort
      const [first, last] = [yield* speaking(port, "1.4"), yield* speaking(port, "1.6")]
      const full = blocks.slice(0, HEIGHT + 1).map((block) => toHex(encodeBlockHeader(block)))
      assert.isTrue(full.some(({ length }) => length > 160))
      assert.deepStrictEqual(yield* last.ask("blockchain.block.headers", 0, 5_000), {
        count: HEIGHT + 1,
        max: 2_016,
        headers: full
      })
      assert.deepStrictEqual(yield* first.ask("blockchain.block.headers", 5, 3), {
        count: 3,
        max: 2_016,
        hex: full.slice(5, 8).join("")
      })
      assert.deepStrictEqual(yield* first.ask("blockchain.block.headers", 900, 3), { count: 0, max: 2_016, hex: "" })
      const long = full.findIndex(({ length }) => length > 160)
      const whole = (yield* first.ask("blockchain.block.header", long, HEIGHT)) as { readonly header: string }
      assert.strictEqual(whole.header, full[long])
      const cut = (yield* last.ask("blockchain.block.header", long, HEIGHT)) as {
        readonly header: string
        readonly branch: ReadonlyArray<string>
        readonly root: string
      }
      assert.strictEqual(cut.header, full[long]?.slice(0, 160))
      const hash = blocks[long]?.header.hash ?? new Uint8Array(32)
      assert.strictEqual(provenRoot(displayHash(hash), { merkle: cut.branch, pos: long }), cut.root)
      assert.strictEqual(
        (yield* last.call("blockchain.block.header", HEIGHT + 1)).error?.message,
        "height 181 out of range"
      )
      assert.strictEqual(
        (yield* last.call("blockchain.block.header", 5, 4)).error?.message,
        "require header height 5 <= cp_height 4 <= chain height 180"
      )
    })))
})

describe("blocks", () => {
  it.scopedLive("are told to clients, and names that they change, through a reorg", () =>
    served(Effect.gen(function*() {
      const { invalidate, reconsider } = yield* ChainControl
      const sink = yield* ChainSink
      const client = yield* speaking(yield* tcpPort)
      const names = yield* allNames
      const later = blocks.slice(HEIGHT + 1, HEIGHT + 41)
      const known = new Map<string, unknown>()
      for (const { name } of names) {
        known.set(shownScriptHash(name), yield* client.ask("blockchain.scripthash.subscribe", shownScriptHash(name)))
      }
      const tip = yield* client.ask("blockchain.headers.subscribe")
      assert.deepStrictEqual(tip, {
        hex: toHex(encodeBlockHeader(blocks[HEIGHT] ?? blocks[0] as never)),
        height: HEIGHT
      })
      const heightTold = () =>
        client.notes.flatMap(({ method, params: [first] = [] }) =>
          method === "blockchain.headers.subscribe" ? [(first as { readonly height: number }).height] : []
        ).at(-1)
      const statusTold = (key: string) =>
        client.notes.filter(({ method, params: [first] = [] }) =>
          method === "blockchain.scripthash.subscribe" && first === key
        ).at(-1)?.params?.[1]
      yield* sink.acceptHeaders(later)
      yield* sink.deliver(later, false)
      const end = HEIGHT + later.length
      yield* eventually("the last block is told", Effect.sync(() => heightTold() === end))
      const { cursor } = yield* NameDb
      yield* eventually("the names are up to date", Effect.map(cursor, (at) => at?.height === end))
      const changed = (yield* allNames).filter(({ history }) => history.some(({ height }) => height > HEIGHT))
      assert.isAbove(changed.length, 0)
      const other = yield* speaking(yield* tcpPort)
      const statuses = Effect.forEach(names, ({ name }) =>
        Effect.map(
          other.ask("blockchain.scripthash.subscribe", shownScriptHash(name)),
          (status) => [shownScriptHash(name), status] as const
        ))
      const now = yield* statuses
      for (const [key, status] of now) {
        if (known.get(key) === status) assert.isUndefined(statusTold(key))
        else yield* eventually("the new status is told", Effect.sync(() => statusTold(key) === status))
      }
      // Back, and forth again.
      yield* invalidate(blocks[HEIGHT + 1]?.header.hash ?? new Uint8Array(32))
      yield* eventually("the old tip is told", Effect.sync(() => heightTold() === HEIGHT))
      for (const [key, status] of now) {
        if (known.get(key) === status) continue
        yield* eventually("the old status is told", Effect.sync(() => statusTold(key) === known.get(key)))
      }
      yield* reconsider(blocks[HEIGHT + 1]?.header.hash ?? new Uint8Array(32))
      yield* eventually("the last block is told again", Effect.sync(() => heightTold() === end))
    })))
})
