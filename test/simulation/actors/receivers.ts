import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { HookMessages } from "../../../scripts/crash/hookMessages.ts"
import type { Random } from "../../../src/base/random.ts"
import { ANSWER_TIMEOUT, type HookAnswer, type HookRequest } from "../../../src/webhooks/post.ts"
import { settledTip } from "../holds/chains.ts"
import { HOOK_SECRET, receiverOf } from "../hooks.ts"
import type { Receive } from "../net/Posts.ts"
import { MINUTE } from "../plan.ts"
import { streamOf } from "../seed.ts"
import type { Act, Actor, World } from "../World.ts"
import { compareAtBlock, type EventCopy, takeLife } from "./copies.ts"
import { between, booleanAt, chance, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { again } from "./killers.ts"
import { overtake } from "./reorganizers.ts"
import { toldIn } from "./Told.ts"

/**
 * What a receiver does with messages. `deaf`: it fails before it has read one; `lost`: it never gets one; `forgetful`:
 * it takes the message, and answers with an error; `vanishing`: it takes it, and hangs up; `silent`: it takes it, and
 * never answers.
 */
const MANNERS = { deaf: 2, lost: 1, forgetful: 3, vanishing: 3, silent: 1 } as const

/** Chance that the block of a taken message leaves the chain while its node waits for the answer. */
const UNDO = 0.5

/** Blocks that such a reorganization takes back at most. */
const DEEPEST = 6

/** The longest time that a node is down, in milliseconds. */
const DOWN = MINUTE / 2

/** The most milliseconds until a message arrives, and until its answer does. */
const SLOWEST = 400

const answered = (status: number): HookAnswer => ({
  _tag: "Answered",
  status,
  milliseconds: 1,
  wished: undefined,
  body: ""
})

const hungUp: HookAnswer = { _tag: "NoAnswer", outcome: "unreachable", reason: "the receiver closed the connection" }
const noAnswer: HookAnswer = { _tag: "NoAnswer", outcome: "timeout", reason: "no answer" }

class Receiver {
  readonly messages: HookMessages
  readonly copy: EventCopy
  /** The last one counts. */
  private manners: ReadonlyArray<{ readonly manner: string }> = []
  /** Called once, when a message is on its way to a receiver that will not answer. */
  private waiting: (() => void) | undefined
  private readonly random: Random

  constructor(world: World, node: string) {
    this.random = streamOf(world.plan.seed, `act:receiver-${node}`)
    const messages: HookMessages = new HookMessages({
      secret: HOOK_SECRET,
      fault: (what, detail) => world.fail({ what: "webhook", reason: `${node}: ${what}: ${detail}` }),
      count: () => {},
      taken: (event) => takeLife(this.copy, JSON.parse(event)),
      complete: (block) => compareAtBlock(world, this.copy, block)
    })
    this.messages = messages
    this.copy = { node, replica: messages.replica, expired: new Set() }
  }

  /** Behaves in a manner until the scope closes. */
  behave(manner: string) {
    const given = { manner }
    return Effect.acquireRelease(
      Effect.sync(() => void (this.manners = [...this.manners, given])),
      () => Effect.sync(() => void (this.manners = this.manners.filter((each) => each !== given)))
    )
  }

  /** The next message has come, or is lost, and its sender waits for an answer that never comes. */
  readonly unanswered = Effect.async<void>((resume) => {
    this.waiting = () => resume(Effect.void)
    return Effect.sync(() => void (this.waiting = undefined))
  })

  readonly receive: Receive = ({ body, headers }) =>
    Effect.gen(this, function*() {
      yield* this.way
      const { manner } = this.manners.at(-1) ?? { manner: "polite" }
      if (manner === "deaf") return answered(500)
      if (manner !== "lost") this.take(body, headers)
      if (manner === "silent" || manner === "lost") return yield* this.silence
      yield* this.way
      if (manner === "vanishing") return hungUp
      return answered(manner === "forgetful" ? 500 : 204)
    })

  private get silence(): Effect.Effect<HookAnswer> {
    return Effect.suspend(() => {
      const { waiting } = this
      this.waiting = undefined
      waiting?.()
      return Effect.as(Effect.sleep(ANSWER_TIMEOUT), noAnswer)
    })
  }

  private get way(): Effect.Effect<void> {
    return Effect.suspend(() => Effect.sleep(between(this.random, [1, SLOWEST])))
  }

  private take(body: string, headers: HookRequest["headers"]): void {
    const header = (name: string): string => headers[`webhook-${name}`] ?? ""
    this.messages.take(body, { id: header("id"), timestamp: header("timestamp"), signature: header("signature") })
  }
}

/**
 * Waits for a message that its receiver does not answer, and kills the node that sent it: before, the block of the message
 * may leave the chain.
 */
const interrupt = (world: World, receiver: Receiver, { arguments: given }: Act) =>
  Effect.gen(function*() {
    const node = world.node(textAt(given, "node"))
    yield* receiver.behave(textAt(given, "manner"))
    const waits = yield* Effect.timeoutOption(receiver.unanswered, numberAt(given, "lasting"))
    if (Option.isNone(waits)) return
    const depth = 1 + (settledTip(node)?.height ?? 0) - receiver.messages.height
    if (booleanAt(given, "undo") && depth > 0 && depth <= DEEPEST) {
      yield* Effect.ignore(overtake(world, node.name, { depth, blocks: depth + 1 }))
    }
    yield* node.kill(booleanAt(given, "power"))
    yield* again(world, node.name, numberAt(given, "down"))
  }).pipe(Effect.scoped)

/**
 * Receivers of webhooks, one for each node that sends one: they check each message, keep a copy of all names, and fail for
 * a while in several ways. Some nodes are killed while they wait for an answer. Must never answer that they took a message
 * which they did not take.
 */
export const receivers: Actor = {
  name: "receivers",

  draw: ({ random, until, whole }) => [
    ...times(random, { mean: 6 * MINUTE, until }).map((at) => ({
      at,
      action: "fail",
      arguments: {
        node: oneOf(random, whole).name,
        manner: weighted(random, MANNERS),
        lasting: between(random, [1_000, 3 * MINUTE])
      }
    })),
    ...times(random, { mean: 20 * MINUTE, until }).map((at) => {
      const node = oneOf(random, whole).name
      const manner = weighted(random, { lost: 1, silent: 1 })
      // To undo a lost message would make up for it.
      const undo = chance(random, UNDO) && manner === "silent"
      return {
        at,
        action: "interrupt",
        arguments: {
          node,
          manner,
          undo,
          power: chance(random, 0.6),
          down: between(random, [0, DOWN]),
          lasting: 5 * MINUTE
        }
      }
    })
  ],

  act: (world) => {
    const all = new Map<string, Receiver>()
    for (const { name, plan } of world.nodes) {
      if (plan.hook !== true) continue
      const receiver = new Receiver(world, name)
      all.set(name, receiver)
      world.posts.listen(receiverOf(name), receiver.receive)
      toldIn(world).hooks.set(name, receiver)
    }
    const receiverAt = (act: Act): Effect.Effect<Receiver, string> =>
      Effect.fromNullable(all.get(textAt(act.arguments, "node"))).pipe(Effect.orElseFail(() => "no receiver"))
    return {
      fail: (act) =>
        Effect.scoped(Effect.gen(function*() {
          yield* (yield* receiverAt(act)).behave(textAt(act.arguments, "manner"))
          yield* Effect.sleep(numberAt(act.arguments, "lasting"))
        })),
      interrupt: (act) => Effect.flatMap(receiverAt(act), (receiver) => interrupt(world, receiver, act))
    }
  }
}
