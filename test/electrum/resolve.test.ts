import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { afterAll, beforeAll } from "vitest"
import { isExpired } from "../../src/consensus/expiry.ts"
import { regtestParams } from "../../src/consensus/params.ts"
import { toHex } from "../../src/protocol/bytes.ts"
import { resolve } from "../../src/verify/resolve.ts"
import { livingNames, namedChain } from "../support/namedChain.ts"
import { settingsOf } from "../support/nameProofs.ts"
import { filledDirectory, onNode, tcpPort } from "./servedNode.ts"

/** Names that a browser resolves over the server of a node, with sockets of TCP in place of those of a browser. */

const HEIGHT = 600

const filled = filledDirectory(HEIGHT)

const own = globalThis.WebSocket

type Listener = (event: { readonly data: unknown }) => void

/** One message a line, as the server frames it over TCP. */
class LineSocket {
  readonly #socket: Socket
  readonly #listeners = new Map<string, Listener>()
  #text = ""

  constructor(url: string) {
    this.#socket = connect(Number(new URL(url).port), "127.0.0.1")
    this.#socket.on("connect", () => this.#tell("open", undefined))
    this.#socket.on("error", () => this.#tell("close", undefined))
    this.#socket.on("close", () => this.#tell("close", undefined))
    this.#socket.on("data", (data) => {
      const lines = `${this.#text}${data.toString("utf8")}`.split("\n")
      this.#text = lines.pop() ?? ""
      for (const line of lines) this.#tell("message", line)
    })
  }

  #tell(event: string, data: unknown): void {
    this.#listeners.get(event)?.({ data })
  }

  addEventListener(event: string, listener: Listener): void {
    this.#listeners.set(event, listener)
  }

  send(text: string): void {
    this.#socket.write(`${text}\n`)
  }

  close(): void {
    this.#socket.destroy()
  }
}

beforeAll(() => void Object.assign(globalThis, { WebSocket: LineSocket }))

afterAll(() => void Object.assign(globalThis, { WebSocket: own }))

it.scopedLive("a node proves its names to a browser", () =>
  onNode(filled)(Effect.gen(function*() {
    const servers = [`ws://127.0.0.1:${yield* tcpPort}`]
    const options = { servers, agree: 1, network: "regtest", now: namedChain.now, timeout: 20_000 } as const
    const names = livingNames.filter((name) => /^d\/[a-z0-9]+$/.test(Buffer.from(name).toString("latin1"))).slice(0, 8)
    assert.isAbove(names.length, 4)
    for (const name of names) {
      const [newest] = settingsOf(namedChain, name)
      if (newest === undefined || isExpired(newest, HEIGHT, regtestParams)) continue
      const found = yield* Effect.promise(() => resolve(Buffer.from(name).toString(), options))
      if ("failed" in found) return assert.fail(JSON.stringify(found))
      assert.deepInclude(found, { nameHex: toHex(name), height: newest.height, vout: newest.vout, agreeing: 1 })
      assert.deepStrictEqual(found.problems, [])
      assert.strictEqual(found.confirmations, Math.min(7, HEIGHT - newest.height + 1))
    }
    const missing = yield* Effect.promise(() => resolve("d/missing", options))
    assert.deepInclude("failed" in missing ? missing : {}, { absent: true })
    return undefined
  })))
