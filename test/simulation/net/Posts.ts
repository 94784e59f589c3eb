import * as Effect from "effect/Effect"
import type { HookAnswer, HookRequest } from "../../../src/webhooks/post.ts"

/** The receivers of webhooks, without HTTP: messages reach them as whole requests. */

export type Receive = (asked: HookRequest) => Effect.Effect<HookAnswer>

const NOBODY: HookAnswer = { _tag: "NoAnswer", outcome: "unreachable", reason: "nobody listens" }

export class Posts {
  private readonly receivers = new Map<string, Receive>()

  /** Lets a host receive from now on. */
  listen(host: string, receive: Receive): void {
    this.receivers.set(host, receive)
  }

  readonly send: Receive = (asked) =>
    Effect.suspend(() => this.receivers.get(new URL(asked.url).hostname)?.(asked) ?? Effect.succeed(NOBODY))
}
