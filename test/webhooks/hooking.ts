import { assert } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { temporaryDirectory } from "../support/chain.ts"
import { eventually } from "../support/eventually.ts"
import { openReceiver, type Receiver } from "./receiver.ts"
import { type HookWorld, withWorld } from "./world.ts"

export const has = (receiver: Receiver, count: number) =>
  eventually(`${count} messages`, () => receiver.received.length >= count)

export type Hooks = Effect.Effect.Success<ReturnType<HookWorld["open"]>>["hooks"]

export const viewOf = ({ list }: Hooks, id: string) =>
  Effect.map(list, (views) => views.find((view) => view.id === id) ?? assert.fail(`no hook ${id}`))

export const stateIs = (hooks: Hooks, id: string, state: string) =>
  eventually(`the hook is ${state}`, Effect.map(viewOf(hooks, id), (view) => view.state === state))

/** A world with a directory, a receiver and the service. */
export const withHooks = <A, E, R>(
  use: (parts: {
    readonly world: HookWorld
    readonly directory: string
    readonly receiver: Receiver
    readonly hooks: Effect.Effect.Success<ReturnType<HookWorld["open"]>>["hooks"]
    readonly scope: Scope.CloseableScope
  }) => Effect.Effect<A, E, R>
) =>
  withWorld((world) =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const receiver = yield* openReceiver()
      const { hooks, scope } = yield* world.open({ directory })
      yield* hooks.start
      return yield* use({ world, directory, receiver, hooks, scope })
    })
  )
