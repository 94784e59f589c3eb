import { assert, describe } from "@effect/vitest"
import { Effect, TestClock } from "effect"
import { Chain } from "../../../src/chain/Chain.ts"
import { commandOf, decodeMessage, encodePayload, type Message } from "../../../src/network/wire/message.ts"
import { hasItem, ItemType } from "../../../src/network/wire/messages/inv.ts"
import { concat, toHex } from "../../../src/protocol/bytes.ts"
import { hex } from "../../support/bytes.ts"
import { fixtureText, hasShared } from "../../support/fixtures.ts"
import { layer } from "../../support/layer.ts"
import { receive } from "../../support/receive.ts"
import { fakePeer } from "../relay/fakePeer.ts"
import { servedChain, serverWith } from "./servedChain.ts"

/** Answers of the reference node in the recorded session (fixtures/p2p-transcript), compared with our server's. */

interface Line {
  readonly direction: "send" | "recv" | "event"
  readonly command: string
  readonly payloadHex: string
}

interface Exchange {
  readonly question: Message
  readonly answers: ReadonlyArray<Line>
}

/** Compared answers per session. */
const COMPARED = { serve: 20, old: 2 }

const QUESTIONS = new Set(["getheaders", "getblocks", "getdata", "getblocktxn"])

const readSession = (name: string): ReadonlyArray<Line> =>
  fixtureText(`p2p-transcript/${name}.jsonl`).trimEnd().split("\n").map((text) => JSON.parse(text))

/** Each request with the answers up to the next message of the peer. */
const exchanges = (name: string): ReadonlyArray<Exchange> => {
  const lines = readSession(name).filter(({ command, direction }) =>
    direction !== "event" && command !== "ping" && command !== "pong"
  )
  return lines.flatMap(({ command, direction, payloadHex }, i) => {
    if (direction !== "send" || !QUESTIONS.has(command)) return []
    const next = lines.findIndex(({ direction }, at) => at > i && direction === "send")
    const answers = lines.slice(i + 1, next < 0 ? lines.length : next)
    return [{ question: decodeMessage(command, hex(payloadHex)), answers }]
  })
}

/** These need a filter, and this server supports none. */
const isFiltered = ({ question }: Exchange): boolean =>
  question.type === "getdata" && hasItem(question.items, ({ type }) => type === ItemType.filteredBlock)

describe.skipIf(!hasShared)("the recorded requests", () => {
  layer(servedChain)("asked again", (it) => {
    for (const session of ["serve", "old-protocol"]) {
      it.effect(`${session}: the server gives exactly the answers of the reference node`, () =>
        Effect.gen(function*() {
          const { tip } = yield* Chain
          // The node's clock was shortly after the tip's time.
          yield* TestClock.setTime(1000 * ((yield* tip).header.time + 60))
          let nonce = 0n
          const server = yield* serverWith({ nonce: () => nonce })
          const version = session === "serve" ? 110_016 : 70_015
          const peer = fakePeer({ type: "inbound", hello: { version, commonVersion: version } })
          let compared = 0
          for (const exchange of exchanges(session)) {
            if (isFiltered(exchange)) continue
            for (const { command, payloadHex } of exchange.answers) {
              const answer = decodeMessage(command, hex(payloadHex))
              if (answer.type === "cmpctblock") nonce = answer.nonce
            }
            yield* receive(server, peer, exchange.question)
            const said = peer.take().map((message) => [commandOf(message), toHex(concat(...encodePayload(message)))])
            assert.deepStrictEqual(
              said,
              exchange.answers.map(({ command, payloadHex }) => [command, payloadHex]),
              JSON.stringify(exchange.question.type)
            )
            compared += said.length
          }
          assert.strictEqual(compared, session === "serve" ? COMPARED.serve : COMPARED.old)
          assert.isUndefined(peer.disconnection())
        }))
    }
  })
})
