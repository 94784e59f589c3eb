import { createHash } from "node:crypto"
import type { Address } from "../../src/base/addresses.ts"
import { listOf, recordOf } from "../crash/rpc.ts"
import { Client } from "./ServedPair.ts"
import { type ElectrumSession, request, speakingSession } from "./session.ts"

/** Subscriptions of a session: servers slow down sessions that cost much. */
const MOST_FOLLOWED = 200

const SCRIPT = "blockchain.scripthash.subscribe"
const HEADERS = "blockchain.headers.subscribe"

/** The status of a history, which clients compare with the one that a server told. Written again here to judge that of svcd. */
const statusOf = (history: unknown): string | null => {
  const rows = listOf(history).map(recordOf)
  const text = rows.map(({ height, tx_hash }) => `${String(tx_hash)}:${String(height)}:`).join("")
  return text === "" ? null : createHash("sha256").update(text).digest("hex")
}

/** A client of one server that follows headers and script hashes, in sessions that stay open. */
export class Follower {
  readonly #address: Address
  readonly #version: string
  readonly #reader: Client
  readonly #sessions: Array<ElectrumSession> = []
  readonly #told = new Map<string, unknown>()
  /** The last header that the server told. */
  tip: unknown

  constructor(address: Address, version: string) {
    this.#address = address
    this.#version = version
    this.#reader = new Client(address, version)
  }

  get followed(): Iterable<string> {
    return this.#told.keys()
  }

  /** Follows the tip. */
  async begin(): Promise<void> {
    const session = await this.#open()
    await session.ask(request(HEADERS), (answer) => this.tip = recordOf(JSON.parse(answer || "{}"))["result"])
  }

  /** Follows a script hash from now on. */
  async follow(hash: string): Promise<void> {
    if (this.#told.has(hash)) return
    const session = this.#told.size % MOST_FOLLOWED === 0 ? await this.#open() : this.#sessions.at(-1)
    // Even if the session has ended: then the server never tells what the other one does.
    this.#told.set(hash, undefined)
    await session?.ask(request(SCRIPT, hash), (answer) => {
      this.#told.set(hash, recordOf(JSON.parse(answer || "{}"))["result"])
    })
  }

  /** The status that the server told last. */
  told(hash: string): unknown {
    return this.#told.get(hash)
  }

  /**
   * The status that follows from the history. A new subscription would not tell: with it, a server may notice that
   * others know an old status.
   */
  async status(hash: string): Promise<string | null> {
    return statusOf(await this.#reader.result("blockchain.scripthash.get_history", hash))
  }

  /** Whether the server has a transaction. */
  async has(txid: string): Promise<boolean> {
    return typeof await this.#reader.result("blockchain.transaction.get", txid) === "string"
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.close()
    await this.#reader.close()
  }

  async #open(): Promise<ElectrumSession> {
    const session = await speakingSession(this.#address, this.#version, (message) => this.#hear(message))
    this.#sessions.push(session)
    return session
  }

  #hear(message: string): void {
    const { method, params } = recordOf(JSON.parse(message))
    const [first, status] = listOf(params)
    if (method === HEADERS) this.tip = first
    else if (method === SCRIPT) this.#told.set(String(first), status)
  }
}
