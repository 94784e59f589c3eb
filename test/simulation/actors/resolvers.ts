import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { exponential, type Random } from "../../../src/base/random.ts"
import * as Responder from "../../../src/dns/Responder.ts"
import { readMessage } from "../../../src/dns/wire/message.ts"
import { wireNameOfHost } from "../../../src/dns/wire/name.ts"
import { concat } from "../../../src/protocol/bytes.ts"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { withClient } from "./clients.ts"
import { between, numberAt, oneOf, textAt, times } from "./drawing.ts"
import { NAMES } from "./owners.ts"

/** Type and class of the questions, and the answers that are certain. */
const [A, IN] = [1, 1]
const [NO_ERROR, SERVER_FAILURE, NO_NAME] = [0, 2, 3]

const CLIENT = { transport: "udp", address: "127.0.0.1", port: 5_353 } as const

/** Nothing is counted. */
const counters = { answered: () => {}, took: () => {}, cacheHit: () => {}, cacheBytes: () => {} }

const responderLayer = Responder.layer({
  servers: [],
  suffixes: [],
  requireProof: "work",
  ttl: 600,
  version: "simulated",
  serial: () => 1,
  counters
})

const question = (host: string): Uint8Array =>
  concat(
    Uint8Array.of(0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0),
    Uint8Array.from(wireNameOfHost(host), (letter) => letter.charCodeAt(0)),
    Uint8Array.of(0, A, 0, IN)
  )

/** An answer in words: its addresses, or why there are none. */
const answerText = (bytes: Uint8Array): string => {
  const { answer, rcode } = readMessage(bytes)
  if (rcode === NO_NAME) return "no name"
  if (rcode !== NO_ERROR) return rcode === SERVER_FAILURE ? "not ready" : `code ${rcode}`
  const addresses = answer.flatMap(({ data, type }) => type === A ? [[...data].join(".")] : [])
  return addresses.sort().join(" ")
}

/** Asks the responder and the node's names for one host. Returns what differs, if the names did not change meanwhile. */
const compared = (
  { atOnce, respond }: Context.Tag.Service<typeof Responder.Responder>,
  { freshness, resolveDomain }: Parameters<Parameters<typeof withClient>[2]>[0],
  host: string
) =>
  Effect.gen(function*() {
    const before = yield* freshness
    const query = question(host)
    // As the listeners do: from the cache first, which `respond` alone does not read.
    const kept = atOnce(query, CLIENT)
    const reply = kept === undefined ? yield* respond(query, CLIENT) : { _tag: "Message", bytes: kept } as const
    const told = reply._tag === "Message" ? answerText(reply.bytes) : reply._tag
    const { records, status } = yield* resolveDomain(host, "A")
    const after = yield* freshness
    if (told === "not ready" || before.height !== after.height) return undefined
    const addresses = records.flatMap((record) => record.type === "A" ? [record.data] : []).sort().join(" ")
    const expected = status === "no-name" ? "no name" : addresses
    return told === expected ? undefined : `DNS says ${told}, the zone says ${expected} (${status})`
  })

const hostOf = (random: Random): string => {
  const domain = `name-${Math.floor(random() * (NAMES + 1))}.bit`
  return random() < 0.3 ? `www.${domain}` : domain
}

/** Asks again and again, so that answers come from the cache while names change. */
const asking = (world: World, node: string, random: Random) =>
  withClient(world, node, (client) =>
    Effect.gen(function*() {
      const responder = Context.get(yield* Layer.build(responderLayer), Responder.Responder)
      for (;;) {
        const host = hostOf(random)
        const asked = Effect.catchTag(compared(responder, client, host), "NotSynced", () => Effect.void)
        const first = yield* asked
        // A branch of the same height may have come between the two answers, but not twice.
        const again = first === undefined ? undefined : yield* asked
        if (again !== undefined) world.fail({ what: "DNS answer", reason: `${node} ${host}: ${again}` })
        yield* Effect.sleep(exponential(random, MINUTE / 4))
      }
    }).pipe(Effect.scoped))

/**
 * Resolvers that ask a node's DNS for hosts below `.bit`, and compare each answer with its names at the same block. Must
 * not wait for the node to be ready, nor count an answer while a block changes the names.
 */
export const resolvers: Actor = {
  name: "resolvers",

  draw: ({ nodes, random, until }) =>
    times(random, { mean: 8 * MINUTE, until }).map((at) => ({
      at,
      action: "ask",
      arguments: { node: oneOf(random, nodes).name, lasting: between(random, [MINUTE, 15 * MINUTE]) }
    })),

  act: (world) => ({
    ask: ({ arguments: given, random }) =>
      Effect.asVoid(Effect.timeoutOption(asking(world, textAt(given, "node"), random), numberAt(given, "lasting")))
  })
}
