import { Effect, Either } from "effect"
import type { Daemon } from "../../../src/programs/cli/daemon.ts"
import type { Json } from "../../../src/rpc/json/json.ts"
import { parseJson } from "../../../src/rpc/json/readJson.ts"
import {
  type CallParams,
  type RpcClientError,
  RpcFailure,
  RpcUnreachable,
  UnexpectedReply
} from "../../../src/rpc/RpcClient.ts"

/** A daemon that answers a batch, and questions, as it answers its calls. */
export const batching = (
  daemon: Omit<Daemon, "ask" | "batch" | "ofWallet"> & Partial<Pick<Daemon, "ask">>
): Daemon => ({
  ask: daemon.call,
  ...daemon,
  ofWallet: () => Effect.succeed(batching(daemon)),
  batch: (calls) =>
    Effect.forEach(calls, ({ method, params }) =>
      daemon.call(method, params).pipe(
        Effect.map(Either.right),
        Effect.catchTag("RpcFailure", (failure) => Effect.succeed(Either.left(failure)))
      ))
})

/** A daemon that answers each method with a value, as JSON; every other method is unknown to it. */
export const fakeDaemon = (answers: Readonly<Record<string, unknown>>): Daemon =>
  batching({
    confirm: Effect.void,
    call: (method): Effect.Effect<Json, RpcClientError> => {
      const answer = answers[method]
      if (answer === undefined) return new RpcFailure({ code: -32601, message: "Method not found" })
      if (answer instanceof RpcFailure || answer instanceof RpcUnreachable || answer instanceof UnexpectedReply) {
        return answer
      }
      return Effect.succeed(parseJson(typeof answer === "string" ? answer : JSON.stringify(answer)) ?? null)
    },
    lines: () => Effect.die("no document was read"),
    triedCookie: () => undefined,
    cli: "svcd-cli"
  })

export interface RecordedCall {
  readonly method: string
  readonly params: CallParams
  /** Whether the call must not be repeated. */
  readonly once: boolean
}

/** The same, with a record of its calls. An answer may be a function of the parameters. */
export const recordingDaemon = (
  answers: Readonly<Record<string, unknown>>
): Daemon & { readonly calls: ReadonlyArray<RecordedCall> } => {
  const calls: Array<RecordedCall> = []
  const recording = (once: boolean): Daemon["call"] => (method, params = []) =>
    Effect.suspend(() => {
      calls.push({ method, params, once })
      const answer = answers[method]
      const made: unknown = typeof answer === "function" ? answer(params) : answer
      return fakeDaemon(made === undefined ? {} : { [method]: made }).call(method)
    })
  const daemon = batching({ ...fakeDaemon({}), call: recording(true), ask: recording(false) })
  return { ...daemon, calls }
}

/** One answer after the other; the last one stays. */
export const inTurn = (...answers: ReadonlyArray<unknown>): () => unknown => {
  let at = 0
  return () => answers[Math.min(at++, answers.length - 1)]
}

export const hex = (text: string): string => Buffer.from(text).toString("hex")
