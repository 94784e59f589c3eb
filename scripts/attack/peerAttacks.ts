import { type Command, COMMANDS, encodeMessage } from "../../src/network/wire/message.ts"
import { ItemType } from "../../src/network/wire/messages/inv.ts"
import { hello } from "../bench/traffic.ts"
import type { Attack } from "./catalogue.ts"
import { type Field, type From, magic } from "./Field.ts"
import { block, compactBlock, groundOf, header, LARGEST, noise, unfinished, wireHash } from "./payloads.ts"

const FROM: ReadonlyArray<From> = ["one", "many"]

const named = (what: string, from: From): string => `${what} from ${from === "one" ? "one address" : "many addresses"}`

/** Kinds that can hurt, which get more time. */
const HEAVY: ReadonlySet<Command> = new Set(["block", "blocktxn", "cmpctblock", "getdata", "headers", "inv", "tx"])

const SHORT: ReadonlySet<string> = new Set([named("inv", "one"), named("cmpctblock", "many")])

/** Floods of each kind of message at its largest. */
const kinds: ReadonlyArray<Attack> = COMMANDS.flatMap((command) =>
  FROM.map((from) => ({
    name: named(command, from),
    seconds: HEAVY.has(command) ? 8 : 3,
    short: SHORT.has(named(command, from)),
    prepare: (field) => {
      const pieces = LARGEST[command](field.target)
      return () => field.flood(from, pieces)
    }
  }))
)

const UNFINISHED: ReadonlyArray<readonly [command: Command, size: number]> = [
  ["headers", 0x1000000],
  ["block", 0x500000],
  ["tx", 0x100000]
]

/** Frames that never end, held open. */
const unfinishedFrames: ReadonlyArray<Attack> = UNFINISHED.flatMap(([command, size]) =>
  FROM.map((from) => ({
    name: named(`unfinished ${command}`, from),
    seconds: 8,
    short: command === "headers" && from === "one",
    prepare: (field) => {
      const bytes = unfinished(command, size)
      return () => field.hold(from, bytes)
    }
  }))
)

/** Connects, sends something, and is gone as soon as it was taken. */
const hitAndRun = (name: string, short: boolean, pieces: (field: Field) => ReadonlyArray<Uint8Array>): Attack => ({
  name,
  seconds: 8,
  short,
  prepare: (field) => {
    const ready = pieces(field)
    return () =>
      field.each(40, async (i) => {
        const socket = await field.peer("many", i)
        if (socket === undefined) return
        const piece = ready[field.connections % ready.length]
        if (piece !== undefined) await field.write(socket, piece)
        socket.end()
        await field.closed(socket)
      })
  }
})

const others: ReadonlyArray<Attack> = [
  {
    name: "reconnecting without a handshake",
    seconds: 5,
    prepare: (field) => {
      const greeting = encodeMessage(magic, hello(0))
      return () =>
        field.each(40, async (i) => {
          const socket = await field.bare("many", i)
          if (socket === undefined) return
          socket.resume()
          await field.write(socket, greeting)
          socket.destroy()
        })
    }
  },
  hitAndRun(
    "reconnecting with blocks",
    true,
    (field) => Array.from({ length: 4 }, (_, i) => block(field.target, 5_200_000, i < 2))
  ),
  hitAndRun(
    "reconnecting with compact blocks",
    true,
    (field) => Array.from({ length: 100 }, () => compactBlock(field.target))
  ),
  {
    name: "slow handshakes",
    seconds: 5,
    prepare: (field) => () =>
      field.each(95, async (i) => {
        const socket = await field.bare("many", i)
        if (socket === undefined) return
        const greeting = encodeMessage(magic, hello(0))
        for (const byte of greeting) {
          if (!await field.write(socket, Uint8Array.of(byte))) return
          await new Promise((resolve) => setTimeout(resolve, 200))
        }
      })
  },
  {
    name: "slow readers of blocks",
    seconds: 8,
    prepare: (field) => {
      const items = Array.from({ length: 50_000 }, (_, i) => ({
        type: ItemType.witnessBlock,
        hash: wireHash(field.target.hashes[1 + i % (field.target.hashes.length - 1)] ?? "")
      }))
      const wish = encodeMessage(magic, { type: "getdata", items })
      return () =>
        field.each(95, async (i) => {
          const socket = await field.peer("many", i)
          if (socket === undefined) return
          socket.pause()
          while (await field.write(socket, wish));
        })
    }
  },
  {
    name: "headers that fork at every height",
    seconds: 8,
    prepare: (field) => {
      const { hashes, tip } = field.target
      const pieces = Array.from({ length: 4 * hashes.length }, (_, i) => {
        const hash = wireHash(hashes[i % hashes.length] ?? "")
        const time = tip.time - (hashes.length - i % hashes.length)
        const forked = header({ ...groundOf(field.target), hash, time }, new Uint8Array(32).fill(i % 251))
        return encodeMessage(magic, { type: "headers", headers: [{ header: forked, auxpow: undefined }] })
      })
      return () => field.flood("many", pieces)
    }
  },
  {
    name: "unknown commands",
    seconds: 4,
    prepare: (field) => {
      const pieces = [noise("frobnicate", 0x20000), noise("toolong", 0x1ffffff)]
      return () => field.flood("many", pieces)
    }
  },
  {
    name: "wrong checksums",
    seconds: 4,
    prepare: (field) => {
      const piece = noise("inv", 1_800_000)
      piece.set([0, 0, 0, 0], 20)
      return () => field.flood("many", [piece])
    }
  }
]

export const peerAttacks: ReadonlyArray<Attack> = [...kinds, ...unfinishedFrames, ...others]
