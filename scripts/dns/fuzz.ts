// Sends mutated messages through the responder of DNS: none may fail, and each is answered or dropped within 5 ms.
// `node build/scripts/dns/fuzz.js [--messages N] [--seed N]`

import { Effect } from "effect"
import process from "node:process"
import { parseArgs } from "node:util"
import { below, type Random } from "../../src/base/random.ts"
import { type DnsClient, Responder } from "../../src/dns/Responder.ts"
import { readMessage } from "../../src/dns/wire/message.ts"
import { MessageWriter } from "../../src/dns/wire/MessageWriter.ts"
import { generatedNames, randomQuestion } from "./generatedNames.ts"
import { memoryResponder, newSigner } from "./memoryNode.ts"
import { seeded } from "./random.ts"

/** Milliseconds for one message. Pauses of the machine are told apart: a slow message is slow again. */
const LIMIT = 5

const NAMES = 2_000

const TRANSPORTS = ["udp", "tcp", "tls", "https"] as const

const writer = new MessageWriter()

const CODES = [3, 8, 10, 11, 12, 15, 65_312, 1]

const wholeQuery = (random: Random): Uint8Array => {
  const { name, type } = randomQuestion(random, NAMES, false)
  const klass = random() < 0.02 ? below(random, 0x10000) : 1
  const flags = random() < 0.9 ? 0x0100 : below(random, 0x10000)
  writer.start({ id: below(random, 0x10000), flags, question: { asked: name, type, class: klass } })
  if (random() < 0.7) {
    const options = random() < 0.7 ? [] : Array.from({ length: 1 + below(random, 3) }, () => ({
      code: CODES[below(random, CODES.length)] ?? 10,
      data: Uint8Array.from({ length: below(random, 48) }, () => below(random, 256))
    }))
    writer.opt({ size: below(random, 0x10000), extendedRcode: 0, dnssec: random() < 0.5, options })
  }
  return writer.bytes()
}

const mutated = (random: Random, message: Uint8Array): Uint8Array => {
  const choice = random()
  if (choice < 0.15) return message
  if (choice < 0.2) return message.subarray(0, below(random, message.length + 1))
  if (choice < 0.25) return Uint8Array.from({ length: below(random, 600) }, () => below(random, 256))
  if (choice < 0.3) return Uint8Array.from([...message, ...message.subarray(below(random, message.length))])
  const copy = message.slice()
  for (let i = 1 + below(random, 4); i > 0; i--) {
    const at = random() < 0.3 ? below(random, Math.min(12, copy.length)) : below(random, copy.length)
    copy[at] = random() < 0.3 ? 0xc0 | below(random, 64) : below(random, 256)
  }
  return copy
}

const hex = (message: Uint8Array): string => Buffer.from(message).toString("hex")

/** Whether an answer is one to this query: same id, QR, and well-formed. */
const isAnswer = (query: Uint8Array, answer: Uint8Array): boolean => {
  const { flags, id } = readMessage(answer)
  return (flags & 0x8000) !== 0 && id === ((query[0] ?? 0) << 8 | (query[1] ?? 0))
}

const run = (messages: number, seed: number) =>
  Effect.gen(function*() {
    const { atOnce, respond } = yield* Responder
    const random = seeded(seed)
    const tally: Record<string, number> = {}
    let slowest = 0
    const begun = performance.now()
    for (let i = 0; i < messages; i++) {
      const query = mutated(random, wholeQuery(random))
      const transport = TRANSPORTS[below(random, TRANSPORTS.length)] ?? "udp"
      const client: DnsClient = { transport, address: "127.0.0.1", port: 4_000 }
      const once = Effect.suspend(() => {
        const start = performance.now()
        const kept = atOnce(query, client)
        const made = kept === undefined
          ? respond(query, client)
          : Effect.succeed({ _tag: "Message" as const, bytes: kept })
        return Effect.map(made, (reply) => ({ reply, took: performance.now() - start }))
      })
      const first = yield* once
      const { reply } = first
      let { took } = first
      for (let again = 0; took > LIMIT && again < 5; again++) took = (yield* once).took
      if (took > LIMIT) return yield* Effect.dieMessage(`${took} ms for ${hex(query)}`)
      slowest = Math.max(slowest, took)
      if (reply._tag === "Message" && !isAnswer(query, reply.bytes)) {
        return yield* Effect.dieMessage(`wrong answer to ${hex(query)}`)
      }
      if (reply._tag === "Message" && ((reply.bytes[3] ?? 0) & 15) === 2) {
        return yield* Effect.dieMessage(`SERVFAIL to ${hex(query)}`)
      }
      const word = reply._tag === "Message" ? `rcode ${(reply.bytes[3] ?? 0) & 15}` : reply._tag
      tally[word] = (tally[word] ?? 0) + 1
      if (i % 1_000_000 === 999_999) process.stdout.write(`${i + 1} messages, seed ${seed}: ${JSON.stringify(tally)}\n`)
    }
    const seconds = (performance.now() - begun) / 1000
    process.stdout.write(
      `${messages} messages, seed ${seed}: 0 failures, slowest ${slowest.toFixed(1)} ms, ${
        Math.round(messages / seconds)
      }/s, ${JSON.stringify(tally)}\n`
    )
  })

const { values } = parseArgs({
  options: { messages: { type: "string", default: "100000" }, seed: { type: "string", default: "1" } }
})
const seed = Number(values.seed)
const names = generatedNames(seeded(seed), NAMES, undefined)
const node = memoryResponder({ valueOf: (name) => names.get(name), signer: newSigner().signer })
await Effect.runPromise(Effect.provide(run(Number(values.messages), seed), node))
