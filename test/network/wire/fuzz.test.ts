import { assert, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { encodeFrame, FrameParser } from "../../../src/network/wire/framing.ts"
import {
  decodeMessage,
  encodeMessage,
  encodePayload,
  type Message,
  MESSAGE_COMMANDS,
  payloadLimit
} from "../../../src/network/wire/message.ts"
import { concat } from "../../../src/protocol/bytes.ts"
import { regtest } from "../../../src/protocol/networks.ts"
import { DecodeError } from "../../../src/protocol/Reader.ts"
import { messages } from "../../support/wireMessages.ts"

/** Number of mutated frames; more if there is time. */
const FRAMES = Number(process.env["FUZZ_FRAMES"] ?? 20_000)

/** Start of the run: the same seed gives the same mutations. */
const SEED = Number(process.env["FUZZ_SEED"] ?? 1)

/** Reproducible numbers below a limit: the middle bits of a linear congruential generator. */
class Chance {
  private state: number

  constructor(seed: number) {
    this.state = seed
  }

  below(limit: number): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((this.state / 0x100000000) * limit)
  }
}

/** Lengths for mutations: the limits of every CompactSize form, and lengths beyond the data. */
const LENGTHS = [
  [0xff],
  [0xfd, 0xff, 0xff],
  [0xfe, 0xff, 0xff, 0xff, 0xff],
  [0xfe, 0, 0, 0, 2],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0xfd, 0, 0],
  [0]
]

const mutate = (bytes: Uint8Array, chance: Chance): Uint8Array => {
  let mutant: Uint8Array = bytes.slice()
  for (let times = 1 + chance.below(4); times > 0; times--) {
    const at = chance.below(mutant.length + 1)
    switch (chance.below(5)) {
      case 0:
        if (at < mutant.length) mutant[at] = (mutant[at] ?? 0) ^ (1 << chance.below(8))
        break
      case 1:
        if (at < mutant.length) mutant[at] = chance.below(256)
        break
      case 2: {
        const length = LENGTHS[chance.below(LENGTHS.length)] ?? []
        mutant.set(length.slice(0, mutant.length - at), at)
        break
      }
      case 3:
        mutant = mutant.slice(0, at)
        break
      default: {
        const from = chance.below(mutant.length + 1)
        mutant = concat(mutant.subarray(0, at), mutant.subarray(from, from + chance.below(64)), mutant.subarray(at))
      }
    }
  }
  return mutant
}

it(`${FRAMES} mutated messages give a message or a DecodeError, and decoded ones can be encoded`, () => {
  const chance = new Chance(SEED)
  const seeds = MESSAGE_COMMANDS.flatMap((command) =>
    FastCheck.sample<Message>(messages[command], { numRuns: 20, seed: SEED })
      .map((message) => ({ command, payload: concat(...encodePayload(message)) }))
  )
  let read = 0
  for (let i = 0; i < FRAMES; i++) {
    const { command, payload } = seeds[chance.below(seeds.length)] ?? assert.fail("no seeds")
    const mutant = mutate(payload, chance)
    try {
      const message = decodeMessage(command, mutant)
      const written = encodePayload(message).reduce((size, part) => size + part.length, 0)
      // Never more than the input: announced but missing data takes no memory.
      assert.isAtMost(written, mutant.length)
      read++
    } catch (cause) {
      if (!(cause instanceof DecodeError)) {
        throw new Error(`${command} ${Buffer.from(mutant).toString("hex")}`, { cause })
      }
    }
  }
  // Both occur, or the mutations are too weak or too strong.
  assert.isAbove(read, FRAMES / 20)
  assert.isBelow(read, FRAMES)
})

it(`${FRAMES} mutated frames never make a parser throw, or hold more than a frame`, () => {
  const chance = new Chance(SEED + 1)
  const seeds = MESSAGE_COMMANDS.flatMap((command) =>
    FastCheck.sample<Message>(messages[command], { numRuns: 5, seed: SEED })
      .map((message) => encodeMessage(regtest.magic, message))
  )
  const counts = { frame: 0, dropped: 0, fatal: 0 }
  let parser = new FrameParser(regtest.magic, { limitOf: payloadLimit })
  let arrived = 0
  for (let i = 0; i < FRAMES; i++) {
    const seed = seeds[chance.below(seeds.length)] ?? assert.fail("no seeds")
    const chunk = chance.below(4) === 0 ? seed : mutate(seed, chance)
    arrived += chunk.length
    let over = false
    for (const framed of parser.push(chunk)) {
      counts[framed.type]++
      over ||= framed.type === "fatal"
    }
    assert.isAtMost(parser.held, Math.max(0x10000, 2 * arrived))
    // A stream that waits for a long payload would test nothing else.
    if (over || chance.below(24) === 0) {
      parser = new FrameParser(regtest.magic, { limitOf: payloadLimit })
      arrived = 0
    }
  }
  for (const count of Object.values(counts)) assert.isAbove(count, FRAMES / 1000)
})

it("a payload of any bytes gives a message or a DecodeError", () => {
  const command = FastCheck.constantFrom(...MESSAGE_COMMANDS)
  FastCheck.assert(
    FastCheck.property(command, FastCheck.uint8Array({ maxLength: 200 }), (command, payload) => {
      try {
        decodeMessage(command, payload)
      } catch (cause) {
        assert.instanceOf(cause, DecodeError)
      }
      assert.isAbove(encodeFrame(regtest.magic, command, [payload]).length, payload.length)
    }),
    { numRuns: 2000 }
  )
})
