import { MESSAGE_COMMANDS, type MessageCommand } from "../../src/network/wire/message.ts"
import { ItemType } from "../../src/network/wire/messages/inv.ts"
import { pause } from "../bench/nodeProcess.ts"
import { hello } from "../bench/traffic.ts"
import type { Attack } from "./catalogue.ts"
import { chains, payments } from "./coins.ts"
import { type Field, type From, PEERS } from "./Field.ts"
import {
  block,
  compactBlock,
  frame,
  groundOf,
  header,
  headerChain,
  LARGEST,
  noise,
  orphan,
  packed,
  unfinished,
  wireHash
} from "./payloads.ts"

/** Seconds of an attack that can do damage, and of one by a harmless message. */
const LONG = 6
const BRIEF = 4

const FROM: ReadonlyArray<From> = ["one", "many"]

const named = (what: string, from: From): string => `${what} from ${from === "one" ? "one address" : "many addresses"}`

/** Messages that cost memory or time: each has an attack from one address and another from many. */
const HEAVY: ReadonlySet<MessageCommand> = new Set([
  "block",
  "blocktxn",
  "cmpctblock",
  "getdata",
  "headers",
  "inv",
  "tx"
])

const SHORT: ReadonlySet<string> = new Set([named("inv", "one"), named("cmpctblock", "many")])

const heavy = (command: MessageCommand): ReadonlyArray<Attack> =>
  FROM.map((from) => ({
    name: named(command, from),
    seconds: LONG,
    short: SHORT.has(named(command, from)),
    gathered: from,
    prepare: (field) => {
      const pieces = LARGEST[command](field.target)
      return () => field.flood(from, pieces)
    }
  }))

/** From one address, and from many after half of the time. */
const light = (command: MessageCommand): Attack => ({
  name: `${command} from one address, then many`,
  seconds: BRIEF,
  gathered: "one",
  prepare: (field) => {
    const pieces = LARGEST[command](field.target)
    return () => {
      setTimeout(() => field.move(), BRIEF * 500)
      return field.flood("one", pieces)
    }
  }
})

/** Floods of each kind of message at its largest. */
const kinds: ReadonlyArray<Attack> = MESSAGE_COMMANDS.flatMap((command) =>
  HEAVY.has(command) ? heavy(command) : [light(command)]
)

const UNFINISHED: ReadonlyArray<readonly [command: MessageCommand, size: number, from: From]> = [
  ["headers", 0x1000000, "one"],
  ["headers", 0x1000000, "many"],
  ["block", 0x500000, "many"],
  ["tx", 0x100000, "many"]
]

/** Incomplete frames, held open. */
const unfinishedFrames: ReadonlyArray<Attack> = UNFINISHED.map(([command, size, from]) => ({
  name: named(`unfinished ${command}`, from),
  seconds: LONG,
  short: command === "headers" && from === "one",
  gathered: from,
  prepare: (field) => {
    const bytes = unfinished(command, size)
    return () => field.hold(from, bytes)
  }
}))

interface Flood {
  readonly name: string
  readonly short?: true
  readonly seconds?: number
  readonly pieces: (field: Field) => ReadonlyArray<Uint8Array>
}

const transactionFrames = (transactions: ReturnType<typeof payments>) =>
  packed(transactions.map((transaction) => frame({ type: "tx", transaction })))

/** Headers without their blocks: some chains of this length on top of the tip. */
const HEADER_CHAINS = 3
const HEADER_CHAIN = 16_000

const FLOODS: ReadonlyArray<Flood> = [
  {
    name: "orphans",
    // As large as a standard transaction may be.
    pieces: () => Array.from({ length: 300 }, () => frame({ type: "tx", transaction: orphan(2_300, 0) }))
  },
  { name: "small orphans", pieces: () => transactionFrames(Array.from({ length: 20_000 }, () => orphan(1, 0))) },
  {
    name: "valid transactions that replace each other",
    pieces: ({ target }) => [1, 3, 5].flatMap((times) => transactionFrames(payments(target, times)))
  },
  { name: "valid transactions in chains", pieces: ({ target }) => transactionFrames(chains(target, 400, 25)) },
  {
    name: "headers that fork at every height",
    pieces: ({ target }) =>
      packed(Array.from({ length: 8 * target.hashes.length }, (_, i) => {
        const height = i % target.hashes.length
        const ground = { hash: wireHash(target.hashes[height] ?? ""), bits: target.tip.bits }
        const forked = header({ ...ground, time: target.tip.time }, new Uint8Array(32).fill(i / target.hashes.length))
        return frame({ type: "headers", headers: [{ header: forked, auxpow: undefined }] })
      }))
  },
  {
    name: "long chains of headers",
    pieces: ({ target }) =>
      Array.from({ length: HEADER_CHAINS }, () => {
        const headers = headerChain(groundOf(target), HEADER_CHAIN, 0)
        return Array.from(
          { length: HEADER_CHAIN / 2_000 },
          (_, i) => frame({ type: "headers", headers: headers.slice(2_000 * i, 2_000 * (i + 1)) })
        )
      }).flat()
  },
  { name: "unknown commands", pieces: () => [noise("frobnicate", 0x20000), noise("toolong", 0x1ffffff)] },
  {
    name: "wrong checksums",
    pieces: () => {
      const piece = noise("inv", 1_800_000)
      piece.set([0, 0, 0, 0], 20)
      return [piece]
    }
  }
]

const floods: ReadonlyArray<Attack> = FLOODS.map(({ name, pieces, seconds = LONG }) => ({
  name,
  seconds,
  gathered: "many",
  prepare: (field) => {
    const ready = pieces(field)
    return () => field.flood("many", ready)
  }
}))

/** Peers that connect, send one message, and disconnect once it is sent; the next one connects at once. */
const REVOLVING = 40

const hitAndRun = ({ name, pieces }: Flood): Attack => ({
  name,
  seconds: LONG,
  short: true,
  prepare: (field) => {
    const ready = pieces(field)
    return () =>
      field.each(REVOLVING, async (i) => {
        const socket = await field.peer("many", i)
        if (socket === undefined) return
        const piece = ready[field.connections % ready.length]
        if (piece !== undefined) await field.write(socket, piece)
        socket.end()
        await field.closed(socket)
      })
  }
})

/** Peers that request more than they ever read. */
const slowReader = (name: string, wish: (field: Field) => Uint8Array): Attack => ({
  name,
  seconds: LONG,
  gathered: "many",
  prepare: (field) => {
    const bytes = wish(field)
    return () =>
      field.each(PEERS, async (i) => {
        const socket = await field.peer("many", i)
        if (socket === undefined) return
        socket.pause()
        while (await field.write(socket, bytes));
      })
  }
})

/** Milliseconds between two bytes of a slow handshake. */
const SLOWLY = 200

const others: ReadonlyArray<Attack> = [
  hitAndRun({
    name: "reconnecting with blocks",
    pieces: ({ target }) => Array.from({ length: 4 }, (_, i) => block(target, i < 2 ? 980_000 : 5_200_000, i % 2 === 0))
  }),
  hitAndRun({
    name: "reconnecting with compact blocks",
    pieces: ({ target }) => Array.from({ length: 100 }, () => compactBlock(target))
  }),
  {
    name: "reconnecting without a handshake",
    seconds: BRIEF,
    prepare: (field) => {
      const greeting = frame(hello(0))
      return () =>
        field.each(REVOLVING, async (i) => {
          const socket = await field.bare("many", i)
          if (socket === undefined) return
          socket.resume()
          await field.write(socket, greeting)
          socket.destroy()
        })
    }
  },
  {
    name: "slow handshakes",
    seconds: BRIEF,
    prepare: (field) => () =>
      field.each(PEERS, async (i) => {
        const socket = await field.bare("many", i)
        if (socket === undefined) return
        for (const byte of frame(hello(0))) {
          if (!await field.write(socket, Uint8Array.of(byte))) return
          await pause(SLOWLY)
        }
      })
  },
  slowReader("slow readers of blocks", ({ target: { hashes } }) =>
    frame({
      type: "getdata",
      items: Array.from({ length: 50_000 }, (_, i) => ({
        type: ItemType.witnessBlock,
        hash: wireHash(hashes[1 + i % (hashes.length - 1)] ?? "")
      }))
    })),
  slowReader("slow readers of headers", ({ target: { hashes } }) =>
    frame({
      type: "getheaders",
      version: 70_016,
      locator: [wireHash(hashes[0] ?? "")],
      stop: new Uint8Array(32)
    }))
]

export const peerAttacks: ReadonlyArray<Attack> = [...kinds, ...unfinishedFrames, ...floods, ...others]
