import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck as fc } from "effect"
import { queryFor } from "../../scripts/dns/dnsClient.ts"
import { generatedNames, type RandomQuestion, randomQuestion } from "../../scripts/dns/generatedNames.ts"
import { memoryResponder, newSigner } from "../../scripts/dns/memoryNode.ts"
import { seeded } from "../../scripts/dns/random.ts"
import { Responder } from "../../src/dns/Responder.ts"
import { type MessageRecord, readMessage } from "../../src/dns/wire/message.ts"
import {
  ancestorName,
  childName,
  compareWireNames,
  isAtOrBelow,
  labelCount,
  parentName,
  type WireName,
  wireNameOfHost,
  wireNameText
} from "../../src/dns/wire/name.ts"
import { readWireName } from "../../src/dns/wire/readName.ts"
import { TYPE_NUMBERS } from "../../src/values/records.ts"
import { UDP } from "../support/dnsNode.ts"

/**
 * A resolver may keep each NSEC record, and deny all that it covers to others (RFC 8198). So no record of any answer may
 * deny what another answer has: here for values of all kinds, through signatures and the cache.
 */

const { NSEC, RRSIG } = TYPE_NUMBERS
const BIT = wireNameOfHost("bit.")
const CHILD = { address: "192.0.2.77", ds: [1, 13, 2, Buffer.alloc(32, 7).toString("base64")] } as const

const NAMES = 40
const QUESTIONS = 300

interface Denial {
  readonly owner: WireName
  readonly next: WireName
  readonly types: ReadonlySet<number>
}

const typesIn = (bitmaps: Uint8Array): ReadonlySet<number> => {
  const types = new Set<number>()
  for (let at = 0; at < bitmaps.length; at += 2 + (bitmaps[at + 1] ?? 0)) {
    const [window = 0, length = 0] = bitmaps.subarray(at)
    for (const [i, octet] of bitmaps.subarray(at + 2, at + 2 + length).entries()) {
      for (let bit = 0; bit < 8; bit++) if ((octet & 0x80 >>> bit) !== 0) types.add(window * 256 + 8 * i + bit)
    }
  }
  return types
}

const denialOf = ({ data, owner }: MessageRecord): Denial => {
  const read = readWireName(data, 0)
  if (read === undefined) return assert.fail("NSEC without a next name")
  return { owner, next: read.name, types: typesIn(data.subarray(read.end)) }
}

/** What all answers say. */
class Told {
  readonly denials = new Map<string, Denial>()
  /** Types by name. Ancestors of a name exist, too. */
  readonly facts = new Map<WireName, Set<number>>([[BIT, new Set()]])

  take(bytes: Uint8Array): void {
    const { answer, authority } = readMessage(bytes)
    for (const record of [...answer, ...authority]) {
      const { data, owner, type } = record
      if (type === NSEC) {
        const denial = denialOf(record)
        this.denials.set(`${owner} ${denial.next}`, denial)
      }
      const [high = 0, low = 0, , labels = 0] = data
      if (type === RRSIG) this.#exists({ owner, type: high << 8 | low, labels })
    }
  }

  /** A signature with fewer labels than its owner is that of a wildcard (RFC 4035, section 5.3.4). NSEC records may have any owner. */
  #exists({ labels, owner, type }: { readonly owner: WireName; readonly type: number; readonly labels: number }): void {
    if (type === NSEC) return
    const excess = labelCount(owner) - labels
    const isWild = excess > 0 && !(excess === 1 && owner.startsWith("\x01*"))
    const name = isWild ? childName("*", ancestorName(owner, excess)) ?? assert.fail("a wildcard too long") : owner
    for (let at = name; at !== BIT; at = parentName(at)) this.facts.set(at, this.facts.get(at) ?? new Set())
    this.facts.get(name)?.add(type)
  }
}

const isBetween = (name: WireName, { next, owner }: Denial): boolean =>
  compareWireNames(owner, name) < 0 && (next === BIT || compareWireNames(name, next) < 0)

const contradictions = ({ denials, facts }: Told): ReadonlyArray<string> =>
  [...denials.values()].flatMap((denial) => {
    const text = `${wireNameText(denial.owner)} NSEC ${wireNameText(denial.next)}`
    return [...facts].flatMap(([name, types]) => {
      if (name !== denial.owner) return isBetween(name, denial) ? [`${text} denies ${wireNameText(name)}`] : []
      return [...types].filter((type) => !denial.types.has(type)).map((type) => `${text} denies the type ${type}`)
    })
  })

/** Each question twice: made, and from the cache. */
const askAll = (questions: ReadonlyArray<RandomQuestion>) =>
  Effect.gen(function*() {
    const { atOnce, respond } = yield* Responder
    const told = new Told()
    const client = { ...UDP, transport: "tcp" } as const
    for (const question of [...questions, ...questions]) {
      const query = queryFor(question, 1)
      // Some answers need a fiber, and a busy machine leaves no time for others.
      const bytes = atOnce(query, client)
      const reply = bytes === undefined ? yield* respond(query, client) : { _tag: "Message" as const, bytes }
      told.take(reply._tag === "Message" ? reply.bytes : assert.fail(`no answer about ${wireNameText(question.name)}`))
    }
    return told
  })

describe("all answers of a zone", () => {
  it("deny nothing that another one has", () =>
    fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 2 ** 31 }), async (seed) => {
        const random = seeded(seed)
        const values = generatedNames(random, NAMES, CHILD)
        const questions = Array.from({ length: QUESTIONS }, () => randomQuestion(random, NAMES, true))
          .filter(({ name }) => isAtOrBelow(name.toLowerCase() as WireName, BIT))
        const { signer } = newSigner()
        const node = memoryResponder({ valueOf: (name) => values.get(name), signer })
        const told = await Effect.runPromise(Effect.provide(askAll(questions), node))
        assert.isAbove(told.denials.size, 5)
        assert.isAbove(told.facts.size, 5)
        assert.deepStrictEqual(contradictions(told), [])
      }),
      { numRuns: 4 }
    ))
})
