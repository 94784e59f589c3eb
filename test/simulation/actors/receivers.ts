import * as Effect from "effect/Effect"
import { HookMessages } from "../../../scripts/crash/hookMessages.ts"
import type { Random } from "../../../src/base/random.ts"
import { ANSWER_TIMEOUT, type HookAnswer, type HookRequest } from "../../../src/webhooks/post.ts"
import { HOOK_SECRET, receiverOf } from "../hooks.ts"
import type { Receive } from "../net/Posts.ts"
import { MINUTE } from "../plan.ts"
import { streamOf } from "../seed.ts"
import type { Actor, World } from "../World.ts"
import { compareAtBlock } from "./copies.ts"
import { between, numberAt, oneOf, textAt, times, weighted } from "./drawing.ts"
import { toldIn } from "./Told.ts"

/**
 * What a receiver does with messages. `deaf`: it fails before it has read one; `forgetful`: it takes the message, and
 * answers with an error; `vanishing`: it takes it, and hangs up; `silent`: it takes it, and never answers.
 */
const MANNERS = { deaf: 2, forgetful: 3, vanishing: 3, silent: 1 } as const

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
  manner = "polite"
  private readonly random: Random

  constructor(world: World, node: string) {
    this.random = streamOf(world.plan.seed, `act:receiver-${node}`)
    const messages: HookMessages = new HookMessages({
      secret: HOOK_SECRET,
      fault: (what, detail) => world.fail({ what: "webhook", reason: `${node}: ${what}: ${detail}` }),
      count: () => {},
      complete: (block) => compareAtBlock(world, { node, replica: messages.replica }, block)
    })
    this.messages = messages
  }

  readonly receive: Receive = ({ body, headers }) =>
    Effect.gen(this, function*() {
      yield* this.way
      if (this.manner === "deaf") return answered(500)
      this.take(body, headers)
      const { manner } = this
      yield* manner === "silent" ? Effect.sleep(ANSWER_TIMEOUT) : this.way
      if (manner === "silent") return noAnswer
      if (manner === "vanishing") return hungUp
      return answered(manner === "forgetful" ? 500 : 204)
    })

  private get way(): Effect.Effect<void> {
    return Effect.suspend(() => Effect.sleep(between(this.random, [1, SLOWEST])))
  }

  private take(body: string, headers: HookRequest["headers"]): void {
    const header = (name: string): string => headers[`webhook-${name}`] ?? ""
    this.messages.take(body, { id: header("id"), timestamp: header("timestamp"), signature: header("signature") })
  }
}

/**
 * Receivers of webhooks, one for each node that sends one: they check each message, keep a copy of all names, and fail for
 * a while in several ways. Must never answer that they took a message which they did not take.
 */
export const receivers: Actor = {
  name: "receivers",

  draw: ({ random, until, whole }) =>
    times(random, { mean: 6 * MINUTE, until }).map((at) => ({
      at,
      action: "fail",
      arguments: {
        node: oneOf(random, whole).name,
        manner: weighted(random, MANNERS),
        lasting: between(random, [1_000, 3 * MINUTE])
      }
    })),

  act: (world) => {
    const all = new Map<string, Receiver>()
    for (const { name, plan } of world.nodes) {
      if (plan.hook !== true) continue
      const receiver = new Receiver(world, name)
      all.set(name, receiver)
      world.posts.listen(receiverOf(name), receiver.receive)
      toldIn(world).hooks.set(name, receiver.messages)
    }
    return {
      fail: ({ arguments: given }) =>
        Effect.acquireUseRelease(
          Effect.sync(() => {
            const receiver = all.get(textAt(given, "node"))
            if (receiver !== undefined) receiver.manner = textAt(given, "manner")
            return receiver
          }),
          () => Effect.sleep(numberAt(given, "lasting")),
          (receiver) =>
            Effect.sync(() => {
              if (receiver !== undefined) receiver.manner = "polite"
            })
        )
    }
  }
}
