import { encodeBlockHeader } from "../../src/protocol/block.ts"
import { displayHash, toHex } from "../../src/protocol/bytes.ts"
import { decodeTransaction } from "../../src/protocol/transaction.ts"
import { nameScriptHash } from "../../src/verify/askElectrum.ts"
import { displayedBranch, type ProofChain, settingsOf } from "./nameProofs.ts"

/** Servers of Electrum's protocol over a chain of blocks, and sockets to them without a network. */

type Answer = (method: string, params: ReadonlyArray<unknown>) => unknown

/** A fault instead of an answer. */
export type ElectrumFault = "refuses" | "silent" | "hangs up" | "no JSON" | "binary" | "too long"

export interface FakeElectrum {
  readonly answer: Answer
  readonly fault?: ElectrumFault
  /** The calls, in order. */
  readonly calls: Array<string>
}

/** A server that knows the names of a chain, up to the blocks it has. */
export const electrumOver = (
  chain: ProofChain,
  names: ReadonlyArray<Uint8Array>,
  { fault, lacks = [] }: { readonly fault?: ElectrumFault; readonly lacks?: ReadonlyArray<string> } = {}
): FakeElectrum => {
  const calls: Array<string> = []
  const byHash = new Map(names.map((name) => [nameScriptHash(name), name]))
  const transactions = new Map(
    chain.blocks.flatMap((block, i) =>
      block.transactions.map((
        transaction,
        pos
      ) => [displayHash(transaction.txid), { block, height: chain.low + i, pos, transaction }])
    )
  )
  const blockAt = (height: number) => chain.blocks[height - chain.low] ?? fail("no such height")
  const found = (txid: unknown) => transactions.get(String(txid)) ?? fail("No such mempool or blockchain transaction")
  const headerAt = (height: number): string => toHex(encodeBlockHeader(blockAt(height)))
  const tip = chain.low + chain.blocks.length - 1
  const methods: Readonly<Record<string, (...params: ReadonlyArray<unknown>) => unknown>> = {
    "server.version": () => ["fake 1.0", "1.4.3"],
    "blockchain.headers.subscribe": () => ({ height: tip, hex: headerAt(tip) }),
    "blockchain.scripthash.get_history": (hash) => {
      const name = byHash.get(String(hash))
      return name === undefined
        ? []
        : settingsOf(chain, name).toReversed().map(({ height, transaction }) => ({
          height,
          tx_hash: displayHash(transaction.txid)
        }))
    },
    "blockchain.transaction.get": (txid) => toHex(found(txid).transaction.bytes),
    "blockchain.transaction.get_merkle": (txid) => {
      const { block, height, pos } = found(txid)
      return { block_height: height, merkle: displayedBranch(block, pos), pos }
    },
    "blockchain.transaction.id_from_pos": (height, pos) => {
      const block = blockAt(Number(height))
      const transaction = block.transactions[Number(pos)] ?? fail("no such position")
      return { tx_hash: displayHash(transaction.txid), merkle: displayedBranch(block, Number(pos)) }
    },
    "blockchain.block.header": (height) => headerAt(Number(height))
  }
  return {
    ...(fault === undefined ? {} : { fault }),
    calls,
    answer: (method, params) => {
      calls.push(method)
      const run = lacks.includes(method) ? undefined : methods[method]
      return run === undefined ? fail(`unknown method "${method}"`) : run(...params)
    }
  }
}

const fail = (message: string): never => {
  throw new Error(message)
}

/** A server whose answers are changed before they leave. */
export const lying = (
  server: FakeElectrum,
  change: (method: string, result: unknown) => unknown
): FakeElectrum => ({ ...server, answer: (method, params) => change(method, server.answer(method, params)) })

/** Another value in place of a transaction: its last digits differ. */
export const spoiled = (tx: unknown): string => {
  const text = String(tx)
  decodeTransaction(Uint8Array.from(Buffer.from(text, "hex")))
  return text.replace(/.{8}$/, "01000000")
}

type Listener = (event: { readonly data: unknown }) => void

/** A constructor to use in place of `WebSocket`. */
export const socketsTo = (servers: Readonly<Record<string, FakeElectrum>>) =>
  class FakeSocket {
    readonly #server: FakeElectrum
    readonly #listeners = new Map<string, Listener>()
    #closed = false

    constructor(url: string) {
      const server = servers[url]
      if (server === undefined) throw new SyntaxError(`an invalid address: ${url}`)
      this.#server = server
      queueMicrotask(() => this.#tell(server.fault === "refuses" ? "close" : "open", undefined))
    }

    #tell(event: string, data: unknown): void {
      if (!this.#closed) this.#listeners.get(event)?.({ data })
    }

    addEventListener(event: string, listener: Listener): void {
      this.#listeners.set(event, listener)
    }

    send(text: string): void {
      const { answer, fault } = this.#server
      if (fault === "silent") return
      queueMicrotask(() => {
        if (fault === "hangs up") return this.#tell("close", undefined)
        if (fault === "no JSON") return this.#tell("message", "<html>")
        if (fault === "binary") return this.#tell("message", new Uint8Array(4))
        if (fault === "too long") return this.#tell("message", " ".repeat(8_000_001))
        this.#tell("message", JSON.stringify(answered(answer, text)))
      })
    }

    close(): void {
      this.#closed = true
    }
  }

const answered = (answer: Answer, text: string): unknown => {
  const { id, method, params }: {
    readonly id: number
    readonly method: string
    readonly params: ReadonlyArray<unknown>
  } = JSON.parse(text)
  try {
    return { jsonrpc: "2.0", id, result: answer(method, params) }
  } catch (error) {
    return { jsonrpc: "2.0", id, error: { code: 1, message: error instanceof Error ? error.message : "" } }
  }
}
