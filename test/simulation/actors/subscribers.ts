import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { ENCODINGS, take } from "../../../examples/replica.ts"
import { below, type Random } from "../../../src/base/random.ts"
import { isStream } from "../../../src/http/Pages.ts"
import { STREAM_KINDS } from "../../../src/names/events/kinds.ts"
import { NodeSettings } from "../../../src/node/layers/NodeSettings.ts"
import { AnswerOptions } from "../../../src/rpc/AnswerOptions.ts"
import { eventsPage } from "../../../src/web/events/eventsPage.ts"
import { MINUTE } from "../plan.ts"
import type { Actor, World } from "../World.ts"
import { compareAtBlock, type EventCopy, type LifeEvent, newCopy, takeLife } from "./copies.ts"
import { between, booleanAt, chance, numberAt, textAt } from "./drawing.ts"
import { toldIn } from "./Told.ts"

/** Pauses after the end of a connection, in milliseconds. */
const [PAUSE, LONGEST] = [1_000, 60_000]

/** How often a connection breaks with a piece on its way, and how much of a piece a part of the network takes at most. */
const BREAK = 0.02

/** The stream in words: its form, and how long the reader takes for each piece. */
interface Reading {
  /** JSON lines, or Server-Sent Events. */
  readonly lines: boolean
  readonly rest: number
}

const copyOf = (world: World, node: string): EventCopy => {
  const { copies } = toldIn(world)
  const known = copies.find((each) => each.node === node)
  if (known !== undefined) return known
  const copy = newCopy(node)
  copies.push(copy)
  return copy
}

/** Takes whole events from pieces of a stream, cut anywhere. */
class Pieces {
  private rest = ""
  private readonly end: string
  private readonly taken: (json: string | undefined, cursor: string | undefined) => void

  constructor(lines: boolean, taken: (json: string | undefined, cursor: string | undefined) => void) {
    this.end = lines ? "\n" : "\n\n"
    this.taken = taken
  }

  take(text: string): void {
    const all = (this.rest + text).split(this.end)
    this.rest = all.pop() ?? ""
    for (const each of all) {
      if (this.end === "\n") this.taken(each, undefined)
      else this.taken(/^data: (.*)$/m.exec(each)?.[1], /^id: (.*)$/m.exec(each)?.[1])
    }
  }
}

const takeEvent = (world: World, copy: EventCopy, json: string | undefined, cursor: string | undefined): void => {
  const event: LifeEvent & { readonly hash: string } = JSON.parse(json ?? "{}")
  // The next request says what to do.
  if (event.type === "error") return world.note("events end", { node: copy.node, json })
  if (json !== undefined) {
    take(copy.replica, json)
    takeLife(copy, event)
  }
  if (event.type === "block") compareAtBlock(world, copy, event)
  if (cursor !== undefined) copy.replica.cursor = cursor
}

/** One request for events, until its connection ends. */
const visit = (world: World, copy: EventCopy, { lines, rest }: Reading, random: Random) =>
  world.node(copy.node).run(Effect.gen(function*() {
    const { settings: { answers } } = yield* NodeSettings
    const page = yield* Effect.provideService(eventsPage, AnswerOptions, answers)
    const { cursor } = copy.replica
    // As a browser does, which keeps the cursor by itself.
    const query = new URLSearchParams(`${ENCODINGS}&types=${STREAM_KINDS.join(",")}${lines ? `&from=${cursor}` : ""}`)
    const { body, status } = yield* page.answer({
      path: "/events",
      query,
      acceptsHtml: false,
      acceptsLines: lines,
      lastEventId: lines ? undefined : cursor,
      ifNoneMatch: undefined,
      host: undefined,
      cookie: undefined,
      forwardedProtocol: undefined,
      seesWallets: false
    })
    if (!isStream(body)) return world.note("events refused", { node: copy.node, status, cursor, body: String(body) })
    const pieces = new Pieces(lines, (json, at) => takeEvent(world, copy, json, at))
    yield* body.write((text) =>
      Effect.gen(function*() {
        if (rest > 0) yield* Effect.sleep(rest)
        const arrived = typeof text === "string" ? text : new TextDecoder().decode(text)
        const breaks = chance(random, BREAK)
        pieces.take(breaks ? arrived.slice(0, below(random, arrived.length + 1)) : arrived)
        if (breaks) yield* Effect.interrupt
      })
    ).pipe(Effect.catchAllCause((cause) => Cause.isInterruptedOnly(cause) ? Effect.void : Effect.failCause(cause)))
  }))

const following = (world: World, copy: EventCopy, reading: Reading, random: Random): Effect.Effect<never> => {
  const attempt = (pause: number): Effect.Effect<never> =>
    Effect.ignore(visit(world, copy, reading, random)).pipe(
      Effect.zipRight(Effect.sleep(pause)),
      Effect.zipRight(Effect.suspend(() => attempt(Math.min(2 * pause, LONGEST))))
    )
  return attempt(PAUSE)
}

/** Lets a copy read what it lacks, for some virtual milliseconds: for the last checks of a world. */
export const readRest = (world: World, copy: EventCopy, limit: number): Effect.Effect<void> =>
  Effect.asVoid(Effect.timeoutOption(following(world, copy, { lines: true, rest: 0 }, () => 1), limit))

/**
 * Readers of `GET /events`, as Server-Sent Events or as lines: they keep a copy of all names with its cursor, some read
 * slowly, their connections break within an event, and they come back with their cursor. Must not read names in another
 * way, nor repair a copy.
 */
export const subscribers: Actor = {
  name: "subscribers",

  draw: ({ random, until, whole }) =>
    whole.flatMap(({ name: node }) => {
      const [lines, rest] = [chance(random, 0.5), chance(random, 0.3) ? between(random, [10, 10_000]) : 0]
      const times = [between(random, [1_000, 4 * MINUTE])]
      for (let at = times[0] ?? 0; at < until; at += between(random, [MINUTE, 20 * MINUTE])) times.push(at)
      // Each visit ends before the next one begins.
      return times.slice(1).map((at, i) => {
        const lasting = Math.max(0, (times[i + 2] ?? until) - at - between(random, [1_000, 2 * MINUTE]))
        return { at, action: "read", arguments: { node, lines, rest, lasting } }
      })
    }),

  act: (world) => ({
    read: ({ arguments: given, random }) => {
      const reading = { lines: booleanAt(given, "lines"), rest: numberAt(given, "rest") }
      const reader = following(world, copyOf(world, textAt(given, "node")), reading, random)
      return Effect.asVoid(Effect.timeoutOption(reader, numberAt(given, "lasting")))
    }
  })
}
